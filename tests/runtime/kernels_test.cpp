#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "runtime/linear.h"
#include "tests/runtime/kernel_sets.h"
#include "tests/runtime/layer_case.h"

namespace axle::runtime {
namespace {

std::vector<float> run(const KernelRow& row, const LayerCase& layer, axle_mode mode, int threads) {
  Engine engine(threads);
  engine.use_only(row);
  Linear linear(engine);
  axle_error error{};
  REQUIRE_MESSAGE(linear.pack({.struct_size = sizeof(axle_linear_options),
                               .mode = mode,
                               .weight_type = AXLE_INT8,
                               .n = layer.n,
                               .k = layer.k,
                               .weights = layer.weights.data(),
                               .scales = layer.scales.data(),
                               .bias = layer.bias.empty() ? nullptr : layer.bias.data(),
                               .group = 0,
                               .scaling = AXLE_SEARCHED,
                               .reserved = 0,
                               .factors = nullptr,
                               .device = nullptr},
                              &error) == AXLE_OK,
                  error.message);
  // One row more than asked for, to see that nothing is written behind the result.
  std::vector<float> y((layer.m + 1) * layer.n, 12345.0F);
  REQUIRE(linear.forward(AXLE_FLOAT32, layer.x.data(), layer.m, y.data(), &error) == AXLE_OK);
  for (std::size_t i = layer.m * layer.n; i < y.size(); ++i) REQUIRE(y[i] == 12345.0F);
  y.resize(layer.m * layer.n);
  return y;
}

/// Equal byte for byte, any NaN being equal to any other.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return false;
  }
  return true;
}

void check_all_sets(const LayerCase& layer, int threads = 1) {
  for (const axle_mode mode : {AXLE_DA8W8, AXLE_A16W8}) {
    const std::vector<float> expected = exact_result(layer, mode);
    for (const KernelRow& row : kernel_sets_to_test()) {
      CAPTURE(row.name);
      CAPTURE(layer.m);
      CAPTURE(layer.n);
      CAPTURE(layer.k);
      CAPTURE(mode);
      CHECK(same(run(row, layer, mode, threads), expected));
    }
  }
}

constexpr std::size_t odd_depths[] = {1, 3, 63, 64, 65, 200};
constexpr std::size_t odd_widths[] = {1, 63, 64, 65, 130};

}  // namespace

TEST_CASE("every kernel set gives the exact bytes for 1 to 17 rows") {
  for (std::size_t m = 1; m <= 17; ++m)
    check_all_sets(make_case(m, odd_widths[m % 5], odd_depths[m % 6], Contents::ordinary,
                             static_cast<std::uint32_t>(m)));
}

TEST_CASE("every kernel set gives the exact bytes for odd depths and widths") {
  std::uint32_t seed = 100;
  for (const std::size_t n : odd_widths) {
    for (const std::size_t k : odd_depths)
      check_all_sets(make_case(3, n, k, Contents::ordinary, ++seed));
  }
}

TEST_CASE("every kernel set gives the exact bytes for many rows and over depth blocks") {
  check_all_sets(make_case(33, 65, 600, Contents::ordinary, 1));
  check_all_sets(make_case(48, 64, 1100, Contents::ordinary, 2));
  check_all_sets(make_case(70, 64, 4200, Contents::ordinary, 3));
  check_all_sets(make_case(5, 64, 4200, Contents::outliers, 4));
}

TEST_CASE("more rows than a chunk holds come out right") {
  check_all_sets(make_case(530, 3, 130, Contents::ordinary, 5));
}

TEST_CASE("threads do not change a byte") {
  check_all_sets(make_case(9, 515, 700, Contents::ordinary, 6), 3);
  check_all_sets(make_case(40, 515, 900, Contents::outliers, 7), 4);
}

TEST_CASE("blocks that threads share by halves of their depth give the exact bytes") {
  check_all_sets(make_case(1, 576, 576, Contents::ordinary, 30), 2);
  check_all_sets(make_case(2, 570, 1536, Contents::outliers, 31),
                 2);                                                  // the last block is not whole
  check_all_sets(make_case(33, 60, 200, Contents::extremes, 32), 2);  // one block alone
  check_all_sets(make_case(17, 640, 130, Contents::ordinary, 33), 4);  // two are left
  check_all_sets(make_case(530, 64, 130, Contents::ordinary, 34), 2);
  LayerCase deep{1, 3, most_depth, {}, {1.0F, 1.0F, 1.0F}, {}, {}};
  deep.weights.assign(3 * most_depth, -128);
  deep.x.assign(most_depth, -1.0F);
  check_all_sets(deep, 2);
}

TEST_CASE("the extremes -128 and 127 neither saturate nor overflow") {
  check_all_sets(make_case(4, 66, 257, Contents::extremes, 8));
  // As deep as a layer may be, all products of one sign, the largest that int32 has to hold.
  LayerCase deep{1, 2, most_depth, {}, {1.0F, 1.0F}, {}, {}};
  deep.weights.assign(2 * most_depth, -128);
  deep.x.assign(most_depth, -1.0F);
  check_all_sets(deep);
}

TEST_CASE("a low plane of -128 and weights of -128 side by side neither saturate nor overflow") {
  // 256 high + low with a scale of one: -128 is the low plane of 128, of -128 and of 384.
  for (const float value : {128.0F, -128.0F, 384.0F}) {
    LayerCase layer = make_case(9, 66, 320, Contents::extremes, 14);
    for (std::size_t i = 0; i < layer.x.size(); ++i)
      layer.x[i] = i % layer.k == 7 ? 32512.0F : value;
    for (std::size_t i = 0; i < layer.k; ++i) layer.weights[i] = -128;
    check_all_sets(layer);
  }
}

TEST_CASE("rows of zeros, of tiny and of huge numbers") {
  check_all_sets(make_case(12, 65, 129, Contents::tiny_and_huge, 9));
  LayerCase zeros = make_case(3, 65, 65, Contents::ordinary, 10);
  zeros.x.assign(zeros.x.size(), 0.0F);
  check_all_sets(zeros);
  for (const KernelRow& row : kernel_sets_to_test())
    CHECK(run(row, zeros, AXLE_DA8W8, 1)[70] == zeros.bias[5]);
}

TEST_CASE("a NaN or an infinity only makes its own row NaN") {
  LayerCase layer = make_case(5, 70, 100, Contents::ordinary, 11);
  layer.x[1 * 100 + 99] = std::numeric_limits<float>::quiet_NaN();
  layer.x[3 * 100 + 0] = -std::numeric_limits<float>::infinity();
  check_all_sets(layer);
  for (const KernelRow& row : kernel_sets_to_test()) {
    const std::vector<float> y = run(row, layer, AXLE_A16W8, 1);
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(std::isnan(y[i]) == (i / 70 == 1 || i / 70 == 3));
  }
}

TEST_CASE("results lie within the error of the quantisation of the real layer") {
  for (const std::size_t k : {64UL, 1000UL, 4096UL}) {
    const LayerCase layer = make_case(4, 64, k, Contents::ordinary, 12);
    const std::vector<double> real = real_result(layer);
    for (const KernelRow& row : kernel_sets_to_test()) {
      CAPTURE(row.name);
      CHECK(relative_error(run(row, layer, AXLE_DA8W8, 1), real) < 1.5e-2);
      CHECK(relative_error(run(row, layer, AXLE_A16W8, 1), real) < 6e-5);
    }
  }
}

TEST_CASE("weight-only int8 is finer than bfloat16 activations even with an outlier of 100 sigma") {
  const LayerCase layer = make_case(4, 64, 4096, Contents::outliers, 13);
  CHECK(relative_error(exact_result(layer, AXLE_A16W8), real_result(layer)) < 1.2e-3);
}

}  // namespace axle::runtime

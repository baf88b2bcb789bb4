// Layers with int4 and float8 weights on every kernel set.

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/linear.h"
#include "tests/runtime/kernel_sets.h"
#include "tests/runtime/narrow_case.h"

namespace axle::runtime {
namespace {

std::vector<float> run(const KernelRow& row, const NarrowCase& layer, int threads = 1) {
  Engine engine(threads);
  engine.use_only(row);
  Linear linear(engine);
  axle_error error{};
  REQUIRE_MESSAGE(linear.pack(options_of(layer), &error) == AXLE_OK, error.message);
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

void check_all_sets(const NarrowCase& layer, int threads = 1) {
  const std::vector<float> expected = exact_result(layer);
  for (const KernelRow& row : kernel_sets_to_test()) {
    CAPTURE(row.name);
    CAPTURE(layer.m);
    CAPTURE(layer.n);
    CAPTURE(layer.k);
    CAPTURE(name_of(layer.form));
    CHECK(same(run(row, layer, threads), expected));
  }
}

void check_all_forms(std::size_t m, std::size_t n, std::size_t k, Contents contents,
                     std::uint32_t seed, int threads = 1) {
  for (const NarrowForm& form : narrow_forms())
    check_all_sets(make_narrow_case(form, m, n, k, contents, seed), threads);
}

constexpr std::size_t odd_depths[] = {1, 31, 65, 129, 200, 300};
constexpr std::size_t odd_widths[] = {1, 63, 64, 65};

}  // namespace

TEST_CASE("int4 and float8: every kernel set gives the exact bytes for 1 to 33 rows") {
  for (std::size_t m = 1; m <= 33; ++m)
    check_all_forms(m, odd_widths[m % 4], odd_depths[m % 6], Contents::ordinary,
                    static_cast<std::uint32_t>(m));
}

TEST_CASE("int4 and float8: many rows, depth blocks, more rows than a chunk holds") {
  check_all_forms(48, 64, 600, Contents::ordinary, 101);
  check_all_forms(64, 3, 1100, Contents::outliers, 102);
  check_all_forms(128, 65, 130, Contents::ordinary, 103);
  check_all_forms(5, 64, 2200, Contents::ordinary, 104);
  check_all_forms(37, 3, 4300, Contents::outliers, 107);
  check_all_forms(530, 2, 70, Contents::ordinary, 105);
}

TEST_CASE("int4 and float8: threads do not change a byte") {
  check_all_forms(9, 515, 300, Contents::ordinary, 106, 3);
}

TEST_CASE("int4 and float8: extremes, zeros, tiny and huge rows") {
  check_all_forms(4, 66, 257, Contents::extremes, 107);
  check_all_forms(12, 65, 129, Contents::tiny_and_huge, 108);
  for (const NarrowForm& form : narrow_forms()) {
    NarrowCase zeros = make_narrow_case(form, 3, 65, 65, Contents::ordinary, 109);
    zeros.x.assign(zeros.x.size(), 0.0F);
    check_all_sets(zeros);
    NarrowCase broken = make_narrow_case(form, 5, 70, 100, Contents::ordinary, 110);
    broken.x[1 * 100 + 99] = std::numeric_limits<float>::quiet_NaN();
    broken.x[3 * 100 + 0] = -std::numeric_limits<float>::infinity();
    check_all_sets(broken);
    // As deep as a layer may be, all products of one sign, the largest that int32 has to hold.
    NarrowCase deep = make_narrow_case(form, 1, 2, most_depth, Contents::extremes, 111);
    deep.weights.assign(deep.weights.size(), form.mode == AXLE_A16F8 ? 0xfe : 0xf8);
    deep.x.assign(most_depth, -1.0F);
    if (form.mode != AXLE_A16F8) check_all_sets(deep);
  }
}

TEST_CASE("int4 and float8: rows computed alone equal rows computed in a batch") {
  for (const NarrowForm& form : narrow_forms()) {
    const NarrowCase batch = make_narrow_case(form, 37, 70, 520, Contents::ordinary, 112);
    for (const KernelRow& row : kernel_sets_to_test()) {
      CAPTURE(row.name);
      const std::vector<float> together = run(row, batch);
      for (const std::size_t r : {0U, 15U, 16U, 31U, 36U}) {
        NarrowCase alone = batch;
        alone.m = 1;
        alone.x.assign(batch.x.begin() + static_cast<std::ptrdiff_t>(r * batch.k),
                       batch.x.begin() + static_cast<std::ptrdiff_t>((r + 1) * batch.k));
        const auto from = together.begin() + static_cast<std::ptrdiff_t>(r * batch.n);
        const std::vector<float> one(from, from + static_cast<std::ptrdiff_t>(batch.n));
        CHECK(same(run(row, alone), one));
      }
    }
  }
}

TEST_CASE("int4 and float8: results are those of the dequantised layer in double") {
  for (const NarrowForm& form : narrow_forms()) {
    CAPTURE(name_of(form));
    const NarrowCase layer = make_narrow_case(form, 4, 64, 4096, Contents::ordinary, 113);
    // float8 sums thousands of floats one after the other, the others only their groups.
    const double most = form.mode == AXLE_A16F8 ? 2e-6 : 1e-6;
    CHECK(relative_error(exact_result(layer), dequantised_result(layer)) < most);
  }
}

}  // namespace axle::runtime

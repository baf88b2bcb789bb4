// Rows that a forward pass makes, adds and hands on: the same bits as one step after the other.
#include "runtime/forward/row_source.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/linear.h"
#include "tests/runtime/kernel_sets.h"

namespace axle::runtime {
namespace {

using Kind = RowSource::Kind;

constexpr Kind kinds[] = {Kind::stored, Kind::rms_norm, Kind::silu_multiply, Kind::gelu};
constexpr float epsilon = 1e-5F;

struct Form {
  axle_mode mode;
  std::size_t group;
  axle_scaling scaling;
};

constexpr Form forms[] = {{AXLE_DA8W8, 0, AXLE_SEARCHED},  {AXLE_A16W8, 0, AXLE_SEARCHED},
                          {AXLE_A16W4, 64, AXLE_ABSMAX},   {AXLE_DA8W4, 128, AXLE_ABSMAX},
                          {AXLE_A16W4, 0, AXLE_TWO_LEVEL}, {AXLE_A16F8, 0, AXLE_SEARCHED}};

struct Case {
  std::size_t m;
  std::size_t n;
  std::size_t k;
  std::vector<float> weights;
  std::vector<float> bias;
  std::vector<float> norm;
  std::vector<float> x;         ///< [m][2][k], of sources that take [m][k] the first half
  std::vector<float> residual;  ///< [m][n]
};

Case make_case(std::size_t m, std::size_t n, std::size_t k, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto numbers = [&](std::size_t count) {
    std::vector<float> made(count);
    for (float& one : made) one = normal(random);
    return made;
  };
  Case made{.m = m,
            .n = n,
            .k = k,
            .weights = numbers(n * k),
            .bias = {},
            .norm = numbers(k),
            .x = numbers(m * 2 * k),
            .residual = numbers(m * n)};
  if (seed % 2 == 0) made.bias = numbers(n);
  return made;
}

RowSource source_of(const Case& own, Kind kind) {
  return {.x = own.x.data(), .kind = kind, .weight = own.norm.data(), .epsilon = epsilon};
}

void pack(Linear& linear, const Form& form, const Case& own) {
  axle_error error{};
  REQUIRE_MESSAGE(linear.pack({.struct_size = sizeof(axle_linear_options),
                               .mode = form.mode,
                               .weight_type = AXLE_FLOAT32,
                               .n = own.n,
                               .k = own.k,
                               .weights = own.weights.data(),
                               .scales = nullptr,
                               .bias = own.bias.empty() ? nullptr : own.bias.data(),
                               .group = form.group,
                               .scaling = form.scaling,
                               .reserved = 0,
                               .factors = nullptr,
                               .device = nullptr},
                              &error) == AXLE_OK,
                  error.message);
}

/// The rows made by the baseline's steps, one after the other.
std::vector<float> made_rows(const Case& own, Kind kind) {
  const ModelSteps& steps = *kernel_table().back().set->model;
  const std::size_t k = own.k;
  std::vector<float> rows(own.m * k);
  for (std::size_t r = 0; r < own.m; ++r) {
    const float* const x = own.x.data() + r * k;
    float* const to = rows.data() + r * k;
    if (kind == Kind::stored || kind == Kind::gelu) std::memcpy(to, x, k * sizeof(float));
    if (kind == Kind::gelu) steps.gelu(to, k);
    if (kind == Kind::rms_norm) steps.rms_norm(x, own.norm.data(), k, epsilon, to);
    if (kind == Kind::silu_multiply)
      steps.silu_multiply(own.x.data() + 2 * r * k, own.x.data() + (2 * r + 1) * k, k, to);
  }
  return rows;
}

std::vector<float> separately(Linear& linear, const Case& own, Kind kind) {
  const std::vector<float> rows = made_rows(own, kind);
  std::vector<float> y(own.m * own.n);
  REQUIRE(linear.forward(AXLE_FLOAT32, rows.data(), own.m, y.data(), nullptr) == AXLE_OK);
  return y;
}

std::vector<float> added_to_residual(const Case& own, std::vector<float> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = own.residual[i] + y[i];
  return y;
}

std::vector<float> fused(Linear& linear, const Case& own, Kind kind, bool added) {
  // One row more than asked for, to see that nothing is written behind the result.
  std::vector<float> y(own.residual);
  y.resize(y.size() + own.n, 12345.0F);
  REQUIRE(linear.forward(source_of(own, kind), own.m, {.y = y.data(), .added = added}, nullptr) ==
          AXLE_OK);
  for (std::size_t i = own.m * own.n; i < y.size(); ++i) REQUIRE(y[i] == 12345.0F);
  y.resize(own.m * own.n);
  return y;
}

/// Equal byte for byte, any NaN being equal to any other.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return true;
}

void check_all_sets(const Case& own, int threads = 1) {
  for (const KernelRow& row : kernel_sets_to_test()) {
    Engine engine(threads);
    engine.use_only(row);
    for (const Form& form : forms) {
      Linear linear(engine);
      pack(linear, form, own);
      for (const Kind kind : kinds) {
        CAPTURE(row.name);
        CAPTURE(form.mode);
        CAPTURE(form.scaling);
        CAPTURE(own.m);
        CAPTURE(own.n);
        CAPTURE(own.k);
        CAPTURE(static_cast<int>(kind));
        const std::vector<float> expected = separately(linear, own, kind);
        CHECK(same(fused(linear, own, kind, false), expected));
        CHECK(same(fused(linear, own, kind, true), added_to_residual(own, expected)));
      }
    }
  }
}

}  // namespace

TEST_CASE("rows that a pass makes, and results that it adds, are those of separate steps") {
  std::uint32_t seed = 1;
  for (const std::size_t m : {std::size_t{1}, std::size_t{5}, std::size_t{17}}) {
    check_all_sets(make_case(m, 1, 64, ++seed));
    check_all_sets(make_case(m, 63, 16, ++seed));
    check_all_sets(make_case(m, 65, 208, ++seed));
  }
}

TEST_CASE("rows that threads make together, many rows and more than a chunk holds") {
  check_all_sets(make_case(24, 66, 528, 2), 3);
  check_all_sets(make_case(270, 3, 32, 3), 2);
}

TEST_CASE("rows that are not finite, are nothing or overflow when they are made") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Case own = make_case(7, 70, 80, 4);
  const auto fill = [&](std::size_t row, float value) {
    for (std::size_t i = 0; i < own.k; ++i) {
      own.x[row * own.k + i] = value;
      own.x[2 * row * own.k + i] = value;
    }
  };
  fill(1, std::numeric_limits<float>::quiet_NaN());
  fill(2, infinity);
  fill(3, 0.0F);
  fill(4, 1e-41F);
  fill(5, 3e38F);
  own.x[6 * own.k + 79] = -infinity;
  own.residual[3 * own.n + 5] = std::numeric_limits<float>::quiet_NaN();
  check_all_sets(own);
  check_all_sets(own, 2);
}

TEST_CASE("rows of 16-bit floats are widened, whole ones and padded ones") {
  const Case own = make_case(3, 65, 80, 5);
  std::vector<std::uint16_t> halves(own.m * own.k);
  std::vector<float> widened(halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &own.x[i], sizeof bits);
    halves[i] = static_cast<std::uint16_t>(bits >> 16U);
    bits &= 0xffff0000U;
    std::memcpy(&widened[i], &bits, sizeof bits);
  }
  Engine engine(2);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  Linear linear(engine);
  pack(linear, forms[0], own);
  std::vector<float> expected(own.residual);
  std::vector<float> y(own.residual);
  REQUIRE(linear.forward({.x = widened.data()}, own.m, {.y = expected.data(), .added = true},
                         nullptr) == AXLE_OK);
  REQUIRE(linear.forward({.x = halves.data(), .type = AXLE_BFLOAT16}, own.m,
                         {.y = y.data(), .added = true}, nullptr) == AXLE_OK);
  CHECK(same(y, expected));
}

TEST_CASE("each row of the result is handed on once, and complete") {
  struct Seen {
    const std::vector<float>* y;
    const std::vector<float>* expected;
    std::size_t n;
    std::vector<std::atomic<int>> times;
    std::atomic<int> incomplete{0};
  };
  const auto see = [](void* context, std::size_t row) {
    Seen& seen = *static_cast<Seen*>(context);
    ++seen.times[row];
    const std::size_t at = row * seen.n;
    if (std::memcmp(seen.y->data() + at, seen.expected->data() + at, seen.n * sizeof(float)) != 0)
      ++seen.incomplete;
  };
  for (const std::size_t m : {std::size_t{1}, std::size_t{3}, std::size_t{40}, std::size_t{530}}) {
    const Case own = make_case(m, 130, 256, 6);
    for (const int threads : {1, 4}) {
      Engine engine(threads);
      REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
      Linear linear(engine);
      pack(linear, forms[1], own);
      const std::vector<float> expected = separately(linear, own, Kind::rms_norm);
      // Few operations are left to the caller, many are shared.
      for (const std::size_t operations : {std::size_t{1}, std::size_t{1} << 20}) {
        std::vector<float> y(m * own.n);
        Seen seen{&y, &expected, own.n, std::vector<std::atomic<int>>(m)};
        REQUIRE(linear.forward(
                    source_of(own, Kind::rms_norm), m,
                    {.y = y.data(), .complete = see, .context = &seen, .operations = operations},
                    nullptr) == AXLE_OK);
        CHECK(seen.incomplete == 0);
        for (const std::atomic<int>& times : seen.times) CHECK(times == 1);
      }
    }
  }
}

}  // namespace axle::runtime

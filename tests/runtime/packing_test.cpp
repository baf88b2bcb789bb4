// Weights that come row by row are packed as those that are in memory.

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/linear.h"

namespace axle::runtime {
namespace {

struct Form {
  axle_mode mode;
  std::size_t group;
  axle_scaling scaling;
};

constexpr Form forms[] = {{AXLE_DA8W8, 0, AXLE_SEARCHED},  {AXLE_A16W8, 0, AXLE_SEARCHED},
                          {AXLE_A16W4, 64, AXLE_SEARCHED}, {AXLE_DA8W4, 32, AXLE_MSE},
                          {AXLE_A16W4, 0, AXLE_TWO_LEVEL}, {AXLE_A16F8, 0, AXLE_SEARCHED}};

/// Rows of a matrix, one after the other, that cannot be read from `unreadable` on.
struct Matrix {
  std::size_t n;
  std::size_t k;
  std::vector<float> numbers;
  std::size_t unreadable = SIZE_MAX;
  std::atomic<std::size_t> most_at_once{0};
  std::atomic<std::size_t> read_rows{0};

  Matrix(std::size_t rows, std::size_t columns) : n(rows), k(columns), numbers(rows * columns) {
    std::mt19937 random(static_cast<std::uint32_t>(rows + columns));
    std::normal_distribution<float> normal;
    for (float& number : numbers) number = normal(random);
  }

  static bool read(void* context, std::size_t first, std::size_t count, void* to) {
    Matrix& self = *static_cast<Matrix*>(context);
    if (count > self.most_at_once.load()) self.most_at_once.store(count);
    if (first + count > self.unreadable) return false;
    std::memcpy(to, self.numbers.data() + first * self.k, count * self.k * sizeof(float));
    self.read_rows.fetch_add(count);
    return true;
  }
};

axle_linear_options options_of(const Form& form, const Matrix& matrix, bool with_weights) {
  return {.struct_size = sizeof(axle_linear_options),
          .mode = form.mode,
          .weight_type = AXLE_FLOAT32,
          .n = matrix.n,
          .k = matrix.k,
          .weights = with_weights ? matrix.numbers.data() : nullptr,
          .scales = nullptr,
          .bias = nullptr,
          .group = form.group,
          .scaling = form.scaling,
          .reserved = 0,
          .factors = nullptr,
          .device = nullptr};
}

std::vector<float> result_of(Linear& linear) {
  const std::vector<float> x(linear.k(), 0.75F);
  std::vector<float> y(linear.n());
  axle_error error{};
  REQUIRE(linear.forward(AXLE_FLOAT32, x.data(), 1, y.data(), &error) == AXLE_OK);
  return y;
}

}  // namespace

TEST_CASE("weights that are read row by row are packed as those in memory") {
  for (const int threads : {1, 3}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{257}}) {
      Engine engine(threads);
      REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
      for (const Form& form : forms) {
        CAPTURE(form.mode);
        CAPTURE(n);
        Matrix matrix(n, 130);
        axle_error error{};
        Linear whole(engine);
        REQUIRE(whole.pack(options_of(form, matrix, true), &error) == AXLE_OK);
        Linear streamed(engine);
        REQUIRE(streamed.pack(options_of(form, matrix, false), {Matrix::read, &matrix}, &error) ==
                AXLE_OK);
        CHECK(matrix.most_at_once.load() <= Linear::rows_together);
        CHECK(matrix.read_rows.load() == n);
        CHECK(result_of(streamed) == result_of(whole));
      }
    }
  }
}

TEST_CASE("weights that cannot be read, or are not finite, are an error with the first channel") {
  Engine engine(3);
  REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK);
  for (const Form& form : forms) {
    Matrix matrix(700, 64);
    axle_error error{};
    matrix.unreadable = 40;
    Linear unreadable(engine);
    CHECK(unreadable.pack(options_of(form, matrix, false), {Matrix::read, &matrix}, &error) ==
          AXLE_MALFORMED);
    CHECK(std::string(error.message) == "output channel 32 cannot be read");
    matrix.unreadable = SIZE_MAX;
    for (const std::size_t channel : {std::size_t{650}, std::size_t{333}})
      matrix.numbers[channel * 64 + 5] = std::numeric_limits<float>::infinity();
    Linear infinite(engine);
    CHECK(infinite.pack(options_of(form, matrix, false), {Matrix::read, &matrix}, &error) ==
          AXLE_BAD_ARGUMENT);
    CHECK(std::string(error.message) == "a weight of output channel 333 is not finite");
  }
}

}  // namespace axle::runtime

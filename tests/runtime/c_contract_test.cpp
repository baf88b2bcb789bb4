// What axle_runtime.h promises of all functions: structs of any version, errors, odd values.
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/axle_runtime.h"
#include "runtime/c_runtime.h"
#include "tests/runtime/c_handles.h"

namespace {

/// A struct as its first version had it, and as a later one has.
struct Grown {
  std::size_t struct_size;
  std::int32_t first;
  std::int32_t last;
  std::uint64_t added;
};

}  // namespace

namespace axle::runtime {

template <>
inline constexpr FirstLayout first_layout<Grown>{"grown", offsetof(Grown, added)};

namespace {

using testing::LinearPtr;
using testing::RuntimePtr;

RuntimePtr make_runtime(int threads = 1) {
  const axle_runtime_options options{sizeof options, nullptr, threads};
  axle_runtime* runtime = nullptr;
  REQUIRE(axle_runtime_create(&options, &runtime, nullptr) == AXLE_OK);
  return RuntimePtr(runtime);
}

LinearPtr make_linear(axle_runtime& runtime, axle_mode mode, std::size_t n, std::size_t k) {
  const std::vector<std::int8_t> weights(n * k, 1);
  const std::vector<float> scales(n, 1.0F);
  axle_linear_options options{};
  options.struct_size = sizeof options;
  options.mode = mode;
  options.weight_type = AXLE_INT8;
  options.n = n;
  options.k = k;
  options.weights = weights.data();
  options.scales = scales.data();
  axle_linear* linear = nullptr;
  REQUIRE(axle_linear_create(&runtime, &options, &linear, nullptr) == AXLE_OK);
  return LinearPtr(linear);
}

axle_bench_options short_bench() {
  axle_bench_options options{};
  options.struct_size = sizeof options;
  options.mode = AXLE_DA8W8;
  options.m = 1;
  options.n = options.k = 64;
  options.weight_bytes = 8192;
  options.seconds = 0.001;
  return options;
}

std::string fact(axle_runtime& runtime, const char* wanted) {
  const char* key = nullptr;
  char value[256];
  for (std::size_t i = 0; axle_runtime_info(&runtime, i, &key, value, sizeof value) == AXLE_OK; ++i)
    if (std::string(key) == wanted) return value;
  return "";
}

}  // namespace

TEST_CASE("first versions of structs stay what they were") {
  // Of 64-bit machines. A field that is added changes sizeof, and none of these.
  CHECK(first_layout<axle_kernel_info>.bytes == 152);
  CHECK(first_layout<axle_runtime_options>.bytes == 20);
  CHECK(first_layout<axle_linear_options>.bytes == 56);
  CHECK(first_layout<axle_model_options>.bytes == 40);
  CHECK(first_layout<axle_prompt>.bytes == 72);
  CHECK(first_layout<axle_answer>.bytes == 48);
  CHECK(first_layout<axle_bench_options>.bytes == 56);
  CHECK(first_layout<axle_bench_result>.bytes == 40);
}

TEST_CASE("a struct of the first version is taken and filled, nothing behind it is touched") {
  Grown caller{offsetof(Grown, added), 1, 2, 77};
  axle_error error{};
  Grown taken{};
  REQUIRE(take_struct(&error, "options", &caller, taken) == AXLE_OK);
  CHECK(taken.first == 1);
  CHECK(taken.last == 2);
  CHECK(taken.added == 0);
  give_struct(Grown{999, 3, 4, 5}, caller);
  CHECK(caller.struct_size == offsetof(Grown, added));
  CHECK(caller.first == 3);
  CHECK(caller.last == 4);
  CHECK(caller.added == 77);
  caller.struct_size = sizeof caller;
  give_struct(Grown{999, 3, 4, 5}, caller);
  CHECK(caller.added == 5);
  struct {
    Grown known;
    std::uint64_t later;
  } newer{{sizeof newer, 1, 2, 3}, 88};
  REQUIRE(take_struct(&error, "options", &newer.known, taken) == AXLE_OK);
  CHECK(taken.added == 3);
  give_struct(Grown{999, 3, 4, 5}, newer.known);
  CHECK(newer.known.struct_size == sizeof newer);
  CHECK(newer.later == 88);
  caller.struct_size = offsetof(Grown, added) - 1;
  CHECK(take_struct(&error, "options", &caller, taken) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message) ==
        "options: struct_size is 15; grown has at least 16 bytes: set it to sizeof(grown)");
  CHECK(take_struct<Grown>(&error, "options", nullptr, taken) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message) == "options is NULL");
}

TEST_CASE("each struct is taken from its first size on, and filled no further than it goes") {
  const RuntimePtr runtime = make_runtime();
  axle_error error{};
  axle_kernel_info info{};
  info.struct_size = first_layout<axle_kernel_info>.bytes - 1;
  CHECK(axle_kernel_at(0, &info) == AXLE_BAD_ARGUMENT);
  ++info.struct_size;
  CHECK(axle_kernel_at(0, &info) == AXLE_OK);

  axle_runtime_options options{first_layout<axle_runtime_options>.bytes - 1, nullptr, 1};
  axle_runtime* other = nullptr;
  CHECK(axle_runtime_create(&options, &other, &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).starts_with("options: struct_size is 19; axle_runtime_options"));
  ++options.struct_size;
  REQUIRE(axle_runtime_create(&options, &other, &error) == AXLE_OK);
  axle_runtime_destroy(other);

  axle_linear_options layer{};
  layer.struct_size = first_layout<axle_linear_options>.bytes - 1;
  axle_linear* linear = nullptr;
  CHECK(axle_linear_create(runtime.get(), &layer, &linear, &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).starts_with("options: struct_size is 55; axle_linear_options"));
  ++layer.struct_size;
  CHECK(axle_linear_create(runtime.get(), &layer, &linear, &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).starts_with("no weights were given"));

  axle_bench_options bench = short_bench();
  struct {
    axle_bench_result known;
    char later[8];
  } result;
  for (const std::size_t size : {std::size_t{40}, sizeof result.known, sizeof result}) {
    std::memset(&result, 0x5a, sizeof result);
    result.known.struct_size = size;
    REQUIRE(axle_runtime_bench(runtime.get(), &bench, &result.known, &error) == AXLE_OK);
    CHECK(result.known.struct_size == size);
    CHECK(result.known.read_gigabytes_per_second > 0);
    CHECK(std::string(result.later, 8) == "ZZZZZZZZ");
    if (size > 40)
      CHECK(result.known.kernel == std::string(axle_runtime_kernel(runtime.get(), AXLE_DA8W8, 1)));
    else
      CHECK(std::memcmp(&result.known.kernel, "ZZZZZZZZ", 8) == 0);
  }
  result.known.struct_size = 39;
  CHECK(axle_runtime_bench(runtime.get(), &bench, &result.known, &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message).starts_with("result: struct_size is 39; axle_bench_result"));
  bench.struct_size = 55;
  CHECK(axle_runtime_bench(runtime.get(), &bench, &result.known, &error) == AXLE_BAD_ARGUMENT);
}

TEST_CASE("a call that succeeds leaves nothing of an earlier failure") {
  const RuntimePtr runtime = make_runtime();
  const LinearPtr linear = make_linear(*runtime, AXLE_DA8W8, 2, 4);
  axle_error error{};
  const auto fail = [&] {
    REQUIRE(axle_runtime_create(nullptr, nullptr, &error) == AXLE_BAD_ARGUMENT);
    CHECK(std::string(error.message) == "out is NULL");
    CHECK(error.status == AXLE_BAD_ARGUMENT);
  };
  const auto is_clear = [&] { return error.status == AXLE_OK && error.message[0] == '\0'; };
  fail();
  axle_runtime* other = nullptr;
  REQUIRE(axle_runtime_create(nullptr, &other, &error) == AXLE_OK);
  CHECK(is_clear());
  axle_runtime_destroy(other);
  fail();
  const float x[4] = {};
  float y[2];
  REQUIRE(axle_linear_forward(linear.get(), AXLE_FLOAT32, x, 1, y, &error) == AXLE_OK);
  CHECK(is_clear());
  fail();
  const axle_bench_options bench = short_bench();
  axle_bench_result result{};
  result.struct_size = sizeof result;
  REQUIRE(axle_runtime_bench(runtime.get(), &bench, &result, &error) == AXLE_OK);
  CHECK(is_clear());
}

TEST_CASE("a benchmark takes no time that it cannot end") {
  const RuntimePtr runtime = make_runtime();
  axle_bench_options options = short_bench();
  axle_bench_result result{};
  result.struct_size = sizeof result;
  axle_error error{};
  for (const double seconds : {std::numeric_limits<double>::infinity(), std::nan(""), -1.0,
                               -std::numeric_limits<double>::infinity(), 86401.0, 1e300}) {
    options.seconds = seconds;
    CHECK(axle_runtime_bench(runtime.get(), &options, &result, &error) == AXLE_BAD_ARGUMENT);
    CHECK(std::string(error.message).starts_with("seconds is "));
  }
}

TEST_CASE("the kernel of a runtime is told for any mode and number of rows") {
  const RuntimePtr runtime = make_runtime();
  CHECK(std::string(axle_runtime_kernel(nullptr, AXLE_DA8W8, 1)).empty());
  for (const axle_mode unknown : {-1, 5, 1000})
    CHECK(std::string(axle_runtime_kernel(runtime.get(), unknown, 1)).empty());
  for (axle_mode mode = AXLE_DA8W8; mode <= AXLE_A16F8; ++mode) {
    const std::string most = axle_runtime_kernel(runtime.get(), mode, std::size_t{1} << 40U);
    // Twice as many of these are 0 and 2 in 64 bits.
    for (const std::size_t rows : {SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 2, SIZE_MAX})
      CHECK(axle_runtime_kernel(runtime.get(), mode, rows) == most);
    CHECK(axle_runtime_kernel(runtime.get(), mode, 0) ==
          std::string(axle_runtime_kernel(runtime.get(), mode, 1)));
  }
}

TEST_CASE("the kernel of a layer is the one that its choices say") {
  const RuntimePtr runtime = make_runtime();
  const LinearPtr linear = make_linear(*runtime, AXLE_A16W8, 64, 64);
  CHECK(std::string(axle_linear_kernel(nullptr, 1)).empty());
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{40}, SIZE_MAX})
    CHECK(axle_linear_kernel(linear.get(), rows) ==
          std::string(axle_runtime_kernel(runtime.get(), AXLE_A16W8, rows)));
  const KernelRow* const last = runtime->engine.kernels().back();
  REQUIRE(runtime->engine.choose({AXLE_A16W8, 0, 64, 64}, bucket_of(1), {last, 1, 0}));
  CHECK(std::string(axle_linear_kernel(linear.get(), 1)) == last->name);
  CHECK(axle_linear_kernel(linear.get(), 40) ==
        std::string(axle_runtime_kernel(runtime.get(), AXLE_A16W8, 40)));
}

TEST_CASE("of more threads than there can be a runtime tells how many it has") {
  CHECK(fact(*make_runtime(300), "threads") == "256");
  CHECK(fact(*make_runtime(7), "threads") == "7");
}

TEST_CASE("finite numbers beyond float give an infinity") {
  const RuntimePtr runtime = make_runtime();
  const LinearPtr linear = make_linear(*runtime, AXLE_DA8W8, 2, 4);
  const float most = std::numeric_limits<float>::max();
  const float x[4] = {most, most, most, most};
  float y[2];
  REQUIRE(axle_linear_forward(linear.get(), AXLE_FLOAT32, x, 1, y, nullptr) == AXLE_OK);
  CHECK(y[0] == std::numeric_limits<float>::infinity());
}

}  // namespace axle::runtime

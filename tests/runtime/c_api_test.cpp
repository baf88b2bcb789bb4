#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/axle_runtime.h"
#include "tests/runtime/c_handles.h"

namespace {

using axle::runtime::testing::LinearPtr;
using axle::runtime::testing::RuntimePtr;

RuntimePtr make_runtime(const char* kernel = nullptr, int threads = 1) {
  const axle_runtime_options options{sizeof(axle_runtime_options), kernel, threads};
  axle_runtime* runtime = nullptr;
  axle_error error{};
  REQUIRE_MESSAGE(axle_runtime_create(&options, &runtime, &error) == AXLE_OK, error.message);
  return RuntimePtr(runtime);
}

axle_linear_options int8_options(const std::vector<std::int8_t>& weights,
                                 const std::vector<float>& scales) {
  return {.struct_size = sizeof(axle_linear_options),
          .mode = AXLE_DA8W8,
          .weight_type = AXLE_INT8,
          .n = scales.size(),
          .k = weights.size() / scales.size(),
          .weights = weights.data(),
          .scales = scales.data(),
          .bias = nullptr,
          .group = 0,
          .scaling = AXLE_SEARCHED,
          .reserved = 0,
          .factors = nullptr,
          .device = nullptr};
}

LinearPtr make_linear(axle_runtime* runtime, const axle_linear_options& options) {
  axle_linear* linear = nullptr;
  axle_error error{};
  REQUIRE_MESSAGE(axle_linear_create(runtime, &options, &linear, &error) == AXLE_OK, error.message);
  return LinearPtr(linear);
}

std::string refusal(axle_runtime* runtime, const axle_linear_options& options,
                    axle_status expected = AXLE_BAD_ARGUMENT) {
  axle_linear* linear = nullptr;
  axle_error error{};
  CHECK(axle_linear_create(runtime, &options, &linear, &error) == expected);
  CHECK(linear == nullptr);
  CHECK(error.status == expected);
  return error.message;
}

}  // namespace

TEST_CASE("the kernel table is ordered, its last row runs everywhere") {
  const std::size_t count = axle_kernel_count();
  REQUIRE(count >= 1);
  axle_kernel_info info{};
  info.struct_size = sizeof info;
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(axle_kernel_at(i, &info) == AXLE_OK);
    CHECK((info.usable == 0 || info.built != 0));
    CHECK((info.usable != 0 || info.missing[0] != '\0' || info.built == 0));
  }
  CHECK(std::string(info.name) == "baseline");
  CHECK(info.usable == 1);
  CHECK(axle_kernel_at(count, &info) == AXLE_BAD_ARGUMENT);
  info.struct_size = 1;
  CHECK(axle_kernel_at(0, &info) == AXLE_BAD_ARGUMENT);
}

TEST_CASE("a forced kernel set is the one that runs, whatever the shape") {
  axle_kernel_info info{};
  info.struct_size = sizeof info;
  for (std::size_t i = 0; i < axle_kernel_count(); ++i) {
    REQUIRE(axle_kernel_at(i, &info) == AXLE_OK);
    if (info.usable == 0) continue;
    const RuntimePtr runtime = make_runtime(info.name);
    for (const std::size_t rows : {1U, 16U, 500U}) {
      CHECK(std::string(axle_runtime_kernel(runtime.get(), AXLE_DA8W8, rows)) == info.name);
      CHECK(std::string(axle_runtime_kernel(runtime.get(), AXLE_A16W8, rows)) == info.name);
    }
  }
}

TEST_CASE("an unknown or unusable kernel set is an error and never replaced") {
  axle_error error{};
  axle_runtime* runtime = nullptr;
  axle_runtime_options options{sizeof options, "abacus", 1};
  CHECK(axle_runtime_create(&options, &runtime, &error) == AXLE_BAD_ARGUMENT);
  CHECK(std::string(error.message) == "there is no kernel set named 'abacus'");
  CHECK(runtime == nullptr);
  axle_kernel_info info{};
  info.struct_size = sizeof info;
  for (std::size_t i = 0; i < axle_kernel_count(); ++i) {
    REQUIRE(axle_kernel_at(i, &info) == AXLE_OK);
    if (info.usable != 0) continue;
    options.kernel = info.name;
    CHECK(axle_runtime_create(&options, &runtime, &error) == AXLE_UNSUPPORTED);
    CHECK(runtime == nullptr);
    CHECK(std::string(error.message).find(info.name) != std::string::npos);
  }
}

TEST_CASE("the facts of a runtime are pairs") {
  const RuntimePtr runtime = make_runtime("baseline", 2);
  std::string all;
  const char* key = nullptr;
  char value[64];
  for (std::size_t i = 0; axle_runtime_info(runtime.get(), i, &key, value, sizeof value) == AXLE_OK;
       ++i)
    all += std::string(key) + "=" + value + ";";
  CHECK(all == std::string("version=") + axle_runtime_version() +
                   ";kernel=baseline;kernels=baseline;forced=yes;threads=2;tuned_shapes=0;");
  CHECK(axle_runtime_info(runtime.get(), 1, &key, value, 5) == AXLE_OK);
  CHECK(std::string(value) == "base");
}

TEST_CASE("structures of another size and missing pointers are refused") {
  axle_error error{};
  axle_runtime* runtime = nullptr;
  axle_runtime_options options{4, nullptr, 0};
  CHECK(axle_runtime_create(&options, &runtime, &error) == AXLE_BAD_ARGUMENT);
  options = {sizeof options, nullptr, -1};
  CHECK(axle_runtime_create(&options, &runtime, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_runtime_create(nullptr, nullptr, nullptr) == AXLE_BAD_ARGUMENT);
  const RuntimePtr good = make_runtime();
  const std::vector<std::int8_t> weights(4);
  const std::vector<float> scales(2);
  axle_linear* linear = nullptr;
  const axle_linear_options right = int8_options(weights, scales);
  axle_linear_options wrong = right;
  wrong.struct_size = 3;
  CHECK(axle_linear_create(good.get(), &wrong, &linear, nullptr) == AXLE_BAD_ARGUMENT);
  CHECK(axle_linear_create(nullptr, &right, &linear, nullptr) == AXLE_BAD_ARGUMENT);
  CHECK(axle_linear_create(good.get(), nullptr, &linear, nullptr) == AXLE_BAD_ARGUMENT);
  const LinearPtr layer = make_linear(good.get(), right);
  float y[2];
  CHECK(axle_linear_forward(layer.get(), AXLE_FLOAT32, nullptr, 1, y, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_linear_forward(nullptr, AXLE_FLOAT32, y, 1, y, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_linear_forward(layer.get(), AXLE_INT8, y, 1, y, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_linear_forward(layer.get(), 77, y, 1, y, &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_linear_forward(layer.get(), AXLE_FLOAT32, nullptr, 0, nullptr, &error) == AXLE_OK);
  axle_runtime_destroy(nullptr);
  axle_linear_destroy(nullptr);
}

TEST_CASE("invalid shapes and values are rejected, with the name of the argument") {
  const RuntimePtr runtime = make_runtime();
  const std::vector<std::int8_t> weights(6);
  std::vector<float> scales(2, 1.0F);
  const axle_linear_options right = int8_options(weights, scales);
  axle_linear_options wrong = right;
  wrong.k = 0;
  CHECK(refusal(runtime.get(), wrong).find("k (input features) is 0") == 0);
  wrong.k = 131072;
  CHECK(refusal(runtime.get(), wrong).find("k (input features) is 131072") == 0);
  wrong = right;
  wrong.n = 0;
  CHECK(refusal(runtime.get(), wrong).find("n (output features) is 0") == 0);
  wrong.n = SIZE_MAX / 2;
  CHECK(refusal(runtime.get(), wrong).find("n (output features)") == 0);
  wrong = right;
  wrong.mode = 9;
  CHECK(refusal(runtime.get(), wrong) == "unknown mode 9");
  wrong = right;
  wrong.weight_type = AXLE_FLOAT16;
  CHECK(refusal(runtime.get(), wrong) == "weights must be int8 or float32, not type 2");
  wrong = right;
  wrong.scales = nullptr;
  CHECK(refusal(runtime.get(), wrong) == "int8 weights need scales");
  scales[1] = std::numeric_limits<float>::infinity();
  CHECK(refusal(runtime.get(), right) == "a scale is not finite");
  const std::vector<float> bad_weights{1.0F, 2.0F, std::nanf(""), 3.0F};
  wrong = {
      sizeof wrong,  AXLE_DA8W8, AXLE_FLOAT32, 2,      2, bad_weights.data(), nullptr, nullptr, 0,
      AXLE_SEARCHED, 0,          nullptr,      nullptr};
  CHECK(refusal(runtime.get(), wrong) == "a weight of output channel 1 is not finite");
  const std::vector<float> bad_bias{1.0F, std::nanf("")};
  scales[1] = 1.0F;
  wrong = right;
  wrong.bias = bad_bias.data();
  CHECK(refusal(runtime.get(), wrong) == "a bias is not finite");
}

TEST_CASE("devices are named, and one that is not there is refused") {
  // No vendor's library takes part: these tests also run in emulators and under sanitizers.
  setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
  const RuntimePtr runtime = make_runtime("baseline");
  const std::vector<float> weights{1.0F, 2.0F};
  axle_linear_options options{};
  options.struct_size = sizeof options;
  options.weight_type = AXLE_FLOAT32;
  options.n = 1;
  options.k = 2;
  options.weights = weights.data();
  for (const char* const device : {"", "cpu"}) {
    options.device = device;
    axle_linear* layer = nullptr;
    REQUIRE(axle_linear_create(runtime.get(), &options, &layer, nullptr) == AXLE_OK);
    CHECK(std::string(axle_linear_kernel(layer, 1)) == "baseline");
    axle_linear_destroy(layer);
  }
  for (const char* const device : {"tpu", "cud", "cuda1", "cuda:", "cuda:1x", "opencl:99"}) {
    CAPTURE(device);
    options.device = device;
    CHECK(refusal(runtime.get(), options, AXLE_UNSUPPORTED).find(device) != std::string::npos);
  }
  axle_error error{};
  CHECK(axle_device_selftest(runtime.get(), "cpu", &error) == AXLE_BAD_ARGUMENT);
  CHECK(axle_device_selftest(nullptr, "cuda", &error) == AXLE_BAD_ARGUMENT);
  std::size_t count = 0;
  axle_device_info info{};
  CHECK(axle_device_at(0, &info) == AXLE_BAD_ARGUMENT);  // without its size
  info.struct_size = sizeof info;
  while (axle_device_at(count, &info) == AXLE_OK) {
    ++count;
    CHECK(std::string(info.name).find(':') != std::string::npos);
    CHECK((info.usable != 0) == (info.problem[0] == '\0'));
  }
  CHECK(count >= 2);  // each kind says something
}

TEST_CASE("float weights are quantised by output channel, symmetrically, ties to even") {
  const RuntimePtr runtime = make_runtime("baseline");
  // Scale 1 exactly (127 / 127): 0.5 -> 0, 1.5 -> 2, 2.5 -> 2, -3.5 -> -4; the last channel is
  // zero.
  const std::vector<float> weights{127.0F, 0.5F, 1.5F, 2.5F, -3.5F, 0, 0, 0, 0, 0};
  const axle_linear_options options{
      sizeof options, AXLE_A16W8, AXLE_FLOAT32,  2, 5,       weights.data(), nullptr,
      nullptr,        0,          AXLE_SEARCHED, 0, nullptr, nullptr};
  const LinearPtr layer = make_linear(runtime.get(), options);
  for (std::size_t i = 0; i < 5; ++i) {
    float x[5] = {};
    x[i] = 1.0F;
    float y[2];
    REQUIRE(axle_linear_forward(layer.get(), AXLE_FLOAT32, x, 1, y, nullptr) == AXLE_OK);
    const float expected[] = {127, 0, 2, 2, -4};
    CHECK(y[0] == doctest::Approx(expected[i]));
    CHECK(y[1] == 0.0F);
  }
}

TEST_CASE("a caller that knows only the first version of the options is served") {
  /// axle_linear_options and axle_bench_options as version 0.1.0 first had them.
  struct FirstOptions {
    std::size_t struct_size;
    axle_mode mode;
    axle_type weight_type;
    std::size_t n, k;
    const void* weights;
    const float* scales;
    const float* bias;
  };
  struct FirstBenchOptions {
    std::size_t struct_size;
    axle_mode mode;
    std::size_t m, n, k, weight_bytes;
    double seconds;
  };
  const RuntimePtr runtime = make_runtime();
  const std::vector<std::int8_t> weights{1, -2, 3, 4, 50, 6, -70, 8};
  const std::vector<float> scales{0.5F, 0.25F};
  // What follows the struct in memory must not be read.
  struct {
    FirstOptions options;
    std::uint64_t behind[4];
  } old{{sizeof(FirstOptions), AXLE_DA8W8, AXLE_INT8, 2, 4, weights.data(), scales.data(), nullptr},
        {77, 77, 77, 77}};
  axle_linear_options seen;
  std::memcpy(&seen, &old, sizeof seen);
  const LinearPtr first = make_linear(runtime.get(), seen);
  const LinearPtr now = make_linear(runtime.get(), int8_options(weights, scales));
  const float x[] = {1.0F, -2.0F, 3.0F, 0.5F};
  float expected[2];
  float y[2];
  REQUIRE(axle_linear_forward(now.get(), AXLE_FLOAT32, x, 1, expected, nullptr) == AXLE_OK);
  REQUIRE(axle_linear_forward(first.get(), AXLE_FLOAT32, x, 1, y, nullptr) == AXLE_OK);
  CHECK(y[0] == expected[0]);
  CHECK(y[1] == expected[1]);
  // With the size of today the same bytes are wrong.
  seen.struct_size = sizeof seen;
  CHECK(refusal(runtime.get(), seen).find("group, scaling and factors are for int4") == 0);
  struct {
    FirstBenchOptions options;
    std::uint64_t behind[2];
  } old_bench{{sizeof(FirstBenchOptions), AXLE_DA8W8, 1, 64, 64, 8192, 0.001}, {77, 77}};
  axle_bench_options seen_bench;
  std::memcpy(&seen_bench, &old_bench, sizeof seen_bench);
  axle_bench_result result{};
  result.struct_size = sizeof result;
  CHECK(axle_runtime_bench(runtime.get(), &seen_bench, &result, nullptr) == AXLE_OK);
}

TEST_CASE("what int4 and float8 layers cannot be made of is rejected") {
  const RuntimePtr runtime = make_runtime();
  std::vector<std::int8_t> weights(2 * 40, 7);
  std::vector<float> scales(2 * 2, 1.0F);
  std::vector<std::uint8_t> factors(2 * 2, 15);
  axle_linear_options right = int8_options(weights, scales);
  right.mode = AXLE_A16W4;
  right.n = 2;
  right.k = 40;
  right.group = 32;
  make_linear(runtime.get(), right);
  axle_linear_options wrong = right;
  wrong.mode = AXLE_DA8W8;
  CHECK(refusal(runtime.get(), wrong).find("group, scaling and factors are for int4") == 0);
  wrong = right;
  wrong.group = 48;
  CHECK(refusal(runtime.get(), wrong) == "group is 48; it must be 32, 64 or 128");
  wrong.group = 64;
  wrong.scaling = AXLE_TWO_LEVEL;
  CHECK(refusal(runtime.get(), wrong) == "group is 64; it must be 32 with two levels of scales");
  wrong.group = 32;
  CHECK(refusal(runtime.get(), wrong).find("need factors") != std::string::npos);
  wrong.factors = factors.data();
  make_linear(runtime.get(), wrong);
  factors[3] = 16;
  CHECK(refusal(runtime.get(), wrong) == "factor 3 is 16; it must be 1 to 15");
  wrong = right;
  wrong.factors = factors.data();
  CHECK(refusal(runtime.get(), wrong).find("factors are for") == 0);
  wrong = right;
  wrong.scaling = AXLE_MSE;
  CHECK(refusal(runtime.get(), wrong).find("scaling 2 is for float32 weights") == 0);
  wrong.scaling = 4;
  CHECK(refusal(runtime.get(), wrong) == "unknown scaling 4");
  weights[41] = 8;
  CHECK(refusal(runtime.get(), right) == "a weight of output channel 1 is not in [-8, 7]");
  weights[41] = 7;
  scales[3] = std::numeric_limits<float>::max();
  CHECK(refusal(runtime.get(), right) == "scale 3 is too large for bfloat16");
  scales[3] = std::nanf("");
  CHECK(refusal(runtime.get(), right) == "a scale is not finite");
  wrong = right;
  wrong.mode = AXLE_A16F8;
  wrong.group = 0;
  CHECK(refusal(runtime.get(), wrong) == "weights must be float8 or float32, not type 3");
  wrong.weight_type = AXLE_FLOAT8;
  weights[79] = 0x7f;
  CHECK(refusal(runtime.get(), wrong) == "a weight of output channel 1 is not finite");
}

TEST_CASE("int4 scales below 2^-100 count as zero, larger ones are rounded to bfloat16") {
  const RuntimePtr runtime = make_runtime("baseline");
  const std::vector<std::int8_t> weights{7, -8, 1};
  const std::vector<float> scales{0x1p-101F, 1.0F + 0x1p-8F, 1.0F + 0x1.8p-7F};
  axle_linear_options options = int8_options(weights, scales);
  options.mode = AXLE_DA8W4;
  const LinearPtr layer = make_linear(runtime.get(), options);
  const float x[] = {127.0F};
  float y[3];
  REQUIRE(axle_linear_forward(layer.get(), AXLE_FLOAT32, x, 1, y, nullptr) == AXLE_OK);
  CHECK(y[0] == 0.0F);
  CHECK(y[1] == -8.0F * 127.0F);
  CHECK(y[2] == (1.0F + 0x1p-6F) * 127.0F);
}

TEST_CASE("bfloat16 and float16 rows give what their values as float give") {
  const RuntimePtr runtime = make_runtime();
  const std::vector<std::int8_t> weights{1, -2, 3, 4, 50, 6, -70, 8};
  const std::vector<float> scales{0.5F, 0.25F};
  const LinearPtr layer = make_linear(runtime.get(), int8_options(weights, scales));
  struct Row {
    axle_type type;
    std::uint16_t halves[4];
    float floats[4];
  };
  const Row rows[] = {
      {AXLE_BFLOAT16, {0x3f80, 0xc000, 0x0000, 0x4049}, {1.0F, -2.0F, 0.0F, 3.140625F}},
      {AXLE_FLOAT16, {0x3c00, 0xc000, 0x3555, 0x7bff}, {1.0F, -2.0F, 0.333251953125F, 65504.0F}},
      {AXLE_FLOAT16, {0x0001, 0x83ff, 0x0400, 0x8000}, {0x1p-24F, -0x1.ff8p-15F, 0x1p-14F, -0.0F}},
      {AXLE_FLOAT16, {0x7c00, 0, 0, 0}, {std::numeric_limits<float>::infinity(), 0, 0, 0}},
      {AXLE_BFLOAT16, {0x7fc0, 0, 0, 0}, {std::numeric_limits<float>::quiet_NaN(), 0, 0, 0}},
  };
  for (const Row& row : rows) {
    float from_halves[2];
    float from_floats[2];
    REQUIRE(axle_linear_forward(layer.get(), row.type, row.halves, 1, from_halves, nullptr) ==
            AXLE_OK);
    REQUIRE(axle_linear_forward(layer.get(), AXLE_FLOAT32, row.floats, 1, from_floats, nullptr) ==
            AXLE_OK);
    for (int i = 0; i < 2; ++i) {
      CHECK(std::isnan(from_halves[i]) == std::isnan(from_floats[i]));
      if (!std::isnan(from_halves[i])) CHECK(from_halves[i] == from_floats[i]);
    }
  }
}

TEST_CASE("two threads may use one runtime at once") {
  const RuntimePtr runtime = make_runtime(nullptr, 3);
  std::vector<std::int8_t> weights(300 * 256);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(i * 7 % 251 - 125);
  const std::vector<float> scales(300, 0.01F);
  const LinearPtr layer = make_linear(runtime.get(), int8_options(weights, scales));
  std::vector<float> x(20 * 256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 8.0F;
  std::vector<float> expected(20 * 300);
  REQUIRE(axle_linear_forward(layer.get(), AXLE_FLOAT32, x.data(), 20, expected.data(), nullptr) ==
          AXLE_OK);
  int wrong[4] = {};
  std::vector<std::jthread> threads;
  for (int& count : wrong)
    threads.emplace_back([&] {
      std::vector<float> y(20 * 300);
      for (int i = 0; i < 50; ++i) {
        axle_linear_forward(layer.get(), AXLE_FLOAT32, x.data(), 20, y.data(), nullptr);
        if (y != expected) ++count;
      }
    });
  threads.clear();
  for (const int count : wrong) CHECK(count == 0);
}

TEST_CASE("the self-test passes and the benchmark measures") {
  const RuntimePtr runtime = make_runtime(nullptr, 2);
  axle_error error{};
  CHECK_MESSAGE(axle_runtime_selftest(runtime.get(), &error) == AXLE_OK, error.message);
  axle_bench_options options{sizeof options, AXLE_A16W8, 2, 96, 200, 60000, 0.001, 0,
                             AXLE_SEARCHED,  0};
  axle_bench_result result{};
  result.struct_size = sizeof result;
  REQUIRE(axle_runtime_bench(runtime.get(), &options, &result, &error) == AXLE_OK);
  CHECK(result.microseconds > 0);
  CHECK(result.gigabytes_per_second > 0);
  CHECK(result.gigaops_per_second > 0);
  CHECK(result.read_gigabytes_per_second > 0);
  // Less than what is read at a time still gives a rate.
  options.n = options.k = 8;
  REQUIRE(axle_runtime_bench(runtime.get(), &options, &result, &error) == AXLE_OK);
  CHECK(result.read_gigabytes_per_second > 0);
  options.k = 0;
  CHECK(axle_runtime_bench(runtime.get(), &options, &result, &error) == AXLE_BAD_ARGUMENT);
}

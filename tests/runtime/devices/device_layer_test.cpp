// Layers on modelled devices: the kernels of runtime/devices/code, thread by thread, against what a
// layer must give byte for byte.

#include "runtime/devices/device_layer.h"

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/half.h"
#include "runtime/selftest.h"
#include "tests/runtime/devices/model_kernels.h"
#include "tests/runtime/layer_case.h"
#include "tests/runtime/narrow_case.h"

namespace axle::runtime {
namespace {

/// Equal byte for byte, any NaN being equal to any other.
bool are_same(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return false;
  }
  return true;
}

axle_linear_options options_of(const LayerCase& layer, axle_mode mode) {
  return {.struct_size = sizeof(axle_linear_options),
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
          .device = nullptr};
}

std::vector<float> run_on(Device& device, const axle_linear_options& options, const void* x,
                          std::size_t m, axle_type type = AXLE_FLOAT32) {
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Linear linear(engine);
  REQUIRE_MESSAGE(linear.pack(options, &error) == AXLE_OK, error.message);
  DeviceLayer layer(device);
  REQUIRE_MESSAGE(layer.take(linear, &error) == AXLE_OK, error.message);
  linear.drop_packed();
  // One row more than asked for, to see that nothing is written behind the result.
  std::vector<float> y((m + 1) * options.n, 12345.0F);
  REQUIRE_MESSAGE(layer.forward(type, x, m, y.data(), &error) == AXLE_OK, error.message);
  for (std::size_t i = m * options.n; i < y.size(); ++i) REQUIRE(y[i] == 12345.0F);
  y.resize(m * options.n);
  return y;
}

/// With matrix kernels and without, forwards and backwards.
template <class Check>
void on_every_device(Check check) {
  for (const DeviceKind* kind : {&model::model_devices, &model::model_devices_without_matrix}) {
    for (const std::uint32_t number : {0U, 1U}) {
      Device device(*kind, number);
      REQUIRE(device.open(nullptr) == AXLE_OK);
      CAPTURE(kind->least_matrix_rows);
      CAPTURE(number);
      check(device);
    }
  }
}

void check_int8(std::size_t m, std::size_t n, std::size_t k, Contents contents,
                std::uint32_t seed) {
  const LayerCase layer = make_case(m, n, k, contents, seed);
  for (const axle_mode mode : {AXLE_DA8W8, AXLE_A16W8}) {
    const std::vector<float> expected = exact_result(layer, mode);
    on_every_device([&](Device& device) {
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      CAPTURE(mode);
      CHECK(are_same(run_on(device, options_of(layer, mode), layer.x.data(), m), expected));
    });
  }
}

void check_int4(std::size_t m, std::size_t n, std::size_t k, Contents contents,
                std::uint32_t seed) {
  for (const NarrowForm& form : narrow_forms()) {
    if (form.mode == AXLE_A16F8) continue;
    const NarrowCase layer = make_narrow_case(form, m, n, k, contents, seed);
    const std::vector<float> expected = exact_result(layer);
    on_every_device([&](Device& device) {
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      CAPTURE(name_of(form));
      CHECK(are_same(run_on(device, options_of(layer), layer.x.data(), m), expected));
    });
  }
}

/// Every form on one device, few rows and many.
void check_on(Device& device) {
  for (const std::size_t m : {1U, 4U, 33U, 128U}) {
    const LayerCase layer = make_case(m, 200, 1100, Contents::ordinary, 216);
    for (const axle_mode mode : {AXLE_DA8W8, AXLE_A16W8}) {
      CAPTURE(m);
      CAPTURE(mode);
      CHECK(are_same(run_on(device, options_of(layer, mode), layer.x.data(), m),
                     exact_result(layer, mode)));
    }
    for (const NarrowForm& form : narrow_forms()) {
      if (form.mode == AXLE_A16F8) continue;
      CAPTURE(m);
      CAPTURE(name_of(form));
      const NarrowCase narrow = make_narrow_case(form, m, 200, 1100, Contents::outliers, 217);
      CHECK(are_same(run_on(device, options_of(narrow), narrow.x.data(), m), exact_result(narrow)));
    }
  }
}

constexpr std::size_t some_depths[] = {1, 31, 65, 129, 200, 300};
constexpr std::size_t some_widths[] = {1, 63, 64, 65};

}  // namespace

TEST_CASE("devices: the modelled kernels give the exact bytes for 1 to 33 rows") {
  for (std::size_t m = 1; m <= 33; m += m < 9 ? 1 : 4) {
    const std::uint32_t seed = static_cast<std::uint32_t>(m);
    check_int8(m, some_widths[m % 4], some_depths[m % 6], Contents::ordinary, seed);
    check_int4(m, some_widths[m % 4], some_depths[m % 6], Contents::ordinary, seed);
  }
}

TEST_CASE("devices: deep layers, 128 rows, more rows than are computed together") {
  check_int8(3, 70, 2200, Contents::ordinary, 201);
  check_int4(3, 70, 4200, Contents::ordinary, 202);
  check_int8(128, 65, 130, Contents::ordinary, 203);
  check_int4(128, 65, 130, Contents::ordinary, 204);
  check_int8(530, 2, 70, Contents::ordinary, 205);
  check_int4(530, 2, 70, Contents::ordinary, 206);
}

TEST_CASE("devices: extremes, outliers, rows that count as zero, values that are not finite") {
  for (const std::size_t m : {2U, 7U}) {
    for (const Contents contents :
         {Contents::extremes, Contents::outliers, Contents::tiny_and_huge}) {
      check_int8(m, 65, 260, contents, 207);
      check_int4(m, 65, 260, contents, 208);
    }
  }
  LayerCase layer = make_case(7, 65, 130, Contents::ordinary, 211);
  layer.x[1] = INFINITY;
  layer.x[3 * 130 + 129] = NAN;
  layer.x[6 * 130] = -INFINITY;
  for (std::size_t i = 0; i < 130; ++i) {
    layer.x[130 + i] = i == 5 ? 0x1p-100F : 0;          // the least that counts
    layer.x[260 + i] = i == 5 ? -0x1.fffffep-101F : 0;  // and the largest that does not
  }
  const std::vector<float> expected = exact_result(layer, AXLE_A16W8);
  CHECK(std::isnan(expected[0]));
  on_every_device([&](Device& device) {
    CHECK(are_same(run_on(device, options_of(layer, AXLE_A16W8), layer.x.data(), 7), expected));
  });
}

TEST_CASE("devices: x of 16 bits is the same x") {
  LayerCase layer = make_case(6, 33, 77, Contents::ordinary, 212);
  layer.x[5] = 0x1p-24F;  // subnormal as float16
  layer.x[6] = -0x3p-20F;
  layer.x[7] = 50000.0F;
  layer.x[2 * 77] = INFINITY;
  layer.x[3 * 77 + 1] = NAN;
  for (const axle_type type : {AXLE_FLOAT16, AXLE_BFLOAT16}) {
    std::vector<std::uint16_t> halves;
    for (float& x : layer.x) {
      halves.push_back(type == AXLE_FLOAT16 ? float16_from_float(x) : bfloat16_from_float(x));
      x = type == AXLE_FLOAT16 ? float_from_float16(halves.back())
                               : float_from_bfloat16(halves.back());
    }
    const std::vector<float> expected = exact_result(layer, AXLE_A16W8);
    on_every_device([&](Device& device) {
      CHECK(are_same(run_on(device, options_of(layer, AXLE_A16W8), halves.data(), 6, type),
                     expected));
    });
  }
}

TEST_CASE("devices: layers of one device, used by several threads at once") {
  Device device(model::model_devices, 0);
  REQUIRE(device.open(nullptr) == AXLE_OK);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const LayerCase layer = make_case(2 + 3 * i, 65, 130, Contents::ordinary, 220 + i);
      for (int turn = 0; turn < 5; ++turn) {
        const auto y = run_on(device, options_of(layer, AXLE_A16W8), layer.x.data(), layer.m);
        if (are_same(y, exact_result(layer, AXLE_A16W8))) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 20);
}

TEST_CASE("devices: division in integers is the division of the CPU") {
  std::mt19937 numbers(212);
  std::uniform_int_distribution<std::uint32_t> fraction(0, 0x7fffff);
  std::uniform_int_distribution<std::uint32_t> exponent(27, 254);  // from 2^-100 on
  for (int i = 0; i < 200000; ++i) {
    const float steps = i % 2 == 0 ? 127.0F : 32512.0F;
    const float largest = float_of_bits(exponent(numbers) << 23U | fraction(numbers));
    REQUIRE(bits_of_float(model::divided(steps, largest)) == bits_of_float(steps / largest));
    REQUIRE(bits_of_float(model::divided(largest, steps)) == bits_of_float(largest / steps));
  }
  for (std::uint32_t i = 0; i < 0x800000; i += 997) {
    const float largest = float_of_bits(127U << 23U | i);
    REQUIRE(bits_of_float(model::divided(32512.0F, largest)) == bits_of_float(32512.0F / largest));
    REQUIRE(bits_of_float(model::divided(largest, 127.0F)) == bits_of_float(largest / 127.0F));
  }
}

TEST_CASE("devices: those of this machine, if any, give the CPU's bytes") {
#ifdef AXLE_SANITIZED
  MESSAGE("skipped: vendors' libraries do not keep the sanitizers' rules");
  return;
#endif
  setenv("POCL_CACHE_DIR", AXLE_TEST_FOLDER "/pocl", 1);  // what OpenCL on the CPU compiles
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  for (const DeviceKind* kind : device_kinds()) {
    DeviceFacts facts;
    for (std::uint32_t number = 0; kind->describe(number, facts); ++number) {
      if (facts.problem[0] != '\0') {
        MESSAGE("skipped: ", std::string(kind->name), ": ", std::string(facts.problem));
        continue;
      }
      Device device(*kind, number);
      const axle_status opened = device.open(&error);
      if (opened == AXLE_UNSUPPORTED) {
        MESSAGE("skipped: ", std::string(error.message));
        continue;
      }
      REQUIRE_MESSAGE(opened == AXLE_OK, error.message);
      MESSAGE("run on ", std::string(device.name()), ": ", std::string(facts.description));
      CHECK_MESSAGE(selftest(engine, device, &error) == AXLE_OK, error.message);
      check_on(device);
    }
  }
}

TEST_CASE("devices: which kernel runs, and what is refused") {
  Device device(model::model_devices, 0);
  REQUIRE(device.open(nullptr) == AXLE_OK);
  const LayerCase layer = make_case(1, 3, 5, Contents::ordinary, 213);
  Engine engine(1);
  axle_error error{};
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Linear linear(engine);
  REQUIRE(linear.pack(options_of(layer, AXLE_DA8W8), &error) == AXLE_OK);
  DeviceLayer on_device(device);
  REQUIRE(on_device.take(linear, &error) == AXLE_OK);
  CHECK(std::string(on_device.kernel_for(4)) == "axle_multiply_int8");
  CHECK(std::string(on_device.kernel_for(5)) == "axle_matrix_int8");

  const NarrowCase float8 =
      make_narrow_case({AXLE_A16F8, 0, AXLE_SEARCHED}, 1, 3, 5, Contents::ordinary, 214);
  Linear narrow(engine);
  REQUIRE(narrow.pack(options_of(float8), &error) == AXLE_OK);
  DeviceLayer refused(device);
  CHECK(refused.take(narrow, &error) == AXLE_UNSUPPORTED);
  CHECK(std::string(error.message) ==
        "device 'model:0' has no kernels for float8 weights; use another mode, or device 'cpu'");
}

}  // namespace axle::runtime

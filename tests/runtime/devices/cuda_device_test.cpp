// Device "cuda" on a modelled driver (model_cuda.cpp): the calls, the bytes, and what goes wrong.

#include "runtime/devices/cuda/cuda_device.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/devices/device_layer.h"
#include "runtime/selftest.h"
#include "tests/runtime/narrow_case.h"

namespace axle::runtime {
namespace {

constexpr char placeholder[] = "the model looks at no code";
constexpr CudaCode model_code{placeholder, 13000, "8.0, 9.0, 10.0"};

/// As the table has it, with code that the model takes.
DeviceKind model_kind() {
  DeviceKind kind = cuda_devices;
  kind.describe = [](std::uint32_t number, DeviceFacts& facts) {
    return describe_cuda(model_code, number, facts);
  };
  kind.open = [](std::uint32_t number, void*& state, axle_error* error) {
    return open_cuda(model_code, number, state, error);
  };
  return kind;
}

/// A library that is loaded already is what later answers to its name.
struct ModelDriver {
  explicit ModelDriver(const char* wrong = "") {
    setenv("AXLE_MODEL_CUDA", wrong, 1);
    REQUIRE_MESSAGE(dlopen(AXLE_MODEL_CUDA_LIBRARY, RTLD_NOW) != nullptr, dlerror());
  }
  ModelDriver(const ModelDriver&) = delete;
  ModelDriver& operator=(const ModelDriver&) = delete;
  ~ModelDriver() { unsetenv("AXLE_MODEL_CUDA"); }
};

std::string problem_of(const CudaCode& code, std::uint32_t number = 0) {
  DeviceFacts facts;
  return describe_cuda(code, number, facts) ? facts.problem : "there is none";
}

std::string open_error(std::uint32_t number, axle_status expected) {
  const DeviceKind kind = model_kind();
  Device device(kind, number);
  axle_error error{};
  CHECK(device.open(&error) == expected);
  return error.message;
}

}  // namespace

TEST_CASE("cuda: a modelled driver computes the CPU's bytes") {
  const ModelDriver driver;
  const DeviceKind kind = model_kind();
  for (const std::uint32_t number : {0U, 1U}) {
    Device device(kind, number);
    axle_error error{};
    REQUIRE_MESSAGE(device.open(&error) == AXLE_OK, error.message);
    Engine engine(1);
    REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
    CHECK_MESSAGE(selftest(engine, device, &error) == AXLE_OK, error.message);
  }
}

TEST_CASE("cuda: what a device is, and that there is no third one") {
  const ModelDriver driver;
  DeviceFacts facts;
  REQUIRE(describe_cuda(model_code, 1, facts));
  CHECK(std::string(facts.problem).empty());
  CHECK(std::string(facts.description) == "Model 1, compute capability 9.0, driver for CUDA 13.0");
  CHECK_FALSE(describe_cuda(model_code, 2, facts));
  CHECK(open_error(2, AXLE_UNSUPPORTED) == "there is no device 'cuda:2'");
}

TEST_CASE("cuda: a driver without GPUs, one that is too old, a GPU without code") {
  {
    const ModelDriver driver("no_device");
    CHECK(problem_of(model_code) ==
          "NVIDIA's driver sees no GPU; look at nvidia-smi and CUDA_VISIBLE_DEVICES");
    CHECK(problem_of(model_code, 1) == "there is none");
    CHECK(open_error(0, AXLE_UNSUPPORTED) ==
          "device 'cuda:0': NVIDIA's driver sees no GPU; look at nvidia-smi and "
          "CUDA_VISIBLE_DEVICES");
  }
  {
    const ModelDriver driver("old_driver");
    CHECK(open_error(0, AXLE_UNSUPPORTED) ==
          "device 'cuda:0': the code in this library is of CUDA 13.0, and the driver is for CUDA "
          "12.4: update NVIDIA's driver, or use 'cpu'");
    // A toolkit of the driver's major version will do.
    CHECK(problem_of({placeholder, 12080, "8.0"}).empty());
  }
  {
    const ModelDriver driver("no_code");
    CHECK(open_error(0, AXLE_UNSUPPORTED) ==
          "device 'cuda:0' (Model 0, compute capability 9.0, driver for CUDA 13.0): this library "
          "has code for compute capability 8.0, 9.0, 10.0 only; use 'cpu'");
  }
  const ModelDriver driver;
  CHECK(problem_of({nullptr, 0, ""}) ==
        "this library was built without CUDA code; the variant 'cuda' has it");
}

namespace {

axle_status forward_once(Device& device, std::size_t n, std::size_t k, axle_error& error) {
  Engine engine(1);
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  Linear linear(engine);
  const std::vector<float> weights(n * k, 1.0F);
  const axle_linear_options options{.struct_size = sizeof(axle_linear_options),
                                    .mode = AXLE_DA8W8,
                                    .weight_type = AXLE_FLOAT32,
                                    .n = n,
                                    .k = k,
                                    .weights = weights.data(),
                                    .scales = nullptr,
                                    .bias = nullptr,
                                    .group = 0,
                                    .scaling = AXLE_SEARCHED,
                                    .reserved = 0,
                                    .factors = nullptr,
                                    .device = nullptr};
  REQUIRE(linear.pack(options, &error) == AXLE_OK);
  DeviceLayer layer(device);
  const axle_status status = layer.take(linear, &error);
  if (status != AXLE_OK) return status;
  std::vector<float> y(n);
  return layer.forward(AXLE_FLOAT32, weights.data(), 1, y.data(), &error);
}

}  // namespace

TEST_CASE("cuda: memory that ends, a kernel that fails, and a device that goes on afterwards") {
  const ModelDriver driver;
  const DeviceKind kind = model_kind();
  Device device(kind, 0);
  axle_error error{};
  REQUIRE(device.open(&error) == AXLE_OK);
  CHECK(forward_once(device, 8192, 16384, error) == AXLE_NO_MEMORY);
  CHECK(std::string(error.message) ==
        "device 'cuda:0' has no memory for 134217728 bytes: 64 of 64 MiB are free");
  CHECK(forward_once(device, 8, 100, error) == AXLE_OK);
  setenv("AXLE_MODEL_CUDA", "broken", 1);
  CHECK(forward_once(device, 8, 100, error) == AXLE_DEVICE);
  CHECK(std::string(error.message) ==
        "device 'cuda:0': axle_quantise: an illegal memory access was encountered (700); start the "
        "process again, or use 'cpu'");
}

TEST_CASE("cuda: a child of fork() is told, and does no harm") {
  const ModelDriver driver;
  const DeviceKind kind = model_kind();
  Device device(kind, 0);
  axle_error error{};
  REQUIRE(device.open(&error) == AXLE_OK);
  Engine engine(1);
  REQUIRE(engine.choose_kernels(nullptr, &error) == AXLE_OK);
  const NarrowCase made =
      make_narrow_case({AXLE_DA8W4, 64, AXLE_SEARCHED}, 1, 3, 5, Contents::ordinary, 215);
  Linear linear(engine);
  REQUIRE(linear.pack(options_of(made), &error) == AXLE_OK);
  DeviceLayer layer(device);
  REQUIRE(layer.take(linear, &error) == AXLE_OK);
  const pid_t child = fork();
  if (child == 0) {
    float y[3];
    const bool told =
        layer.forward(AXLE_FLOAT32, made.x.data(), 1, y, &error) == AXLE_BAD_ARGUMENT &&
        std::strstr(error.message, "opened before a fork()") != nullptr;
    _exit(told ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  float y[3];
  CHECK(layer.forward(AXLE_FLOAT32, made.x.data(), 1, y, &error) == AXLE_OK);
}

}  // namespace axle::runtime

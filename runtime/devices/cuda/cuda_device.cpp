#include "runtime/devices/cuda/cuda_device.h"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "runtime/devices/cuda/cuda_driver.h"
#include "runtime/error_message.h"

namespace axle::runtime {
namespace {

/// Measured nowhere yet: a pass of the other kernels takes four rows.
constexpr std::size_t first_matrix_rows = 5;
constexpr std::size_t most_arguments = 16;

struct CudaState {
  CudaDriver driver;
  std::uint32_t number = 0;
  int device = 0;
  CudaDriver::Context context = nullptr;
  CudaDriver::Module module = nullptr;
  CudaDriver::Function functions[device_kernels] = {};
};

/// The context of a device, current on this thread while this lives.
class Current {
 public:
  explicit Current(const CudaState& state) : driver_(state.driver) {
    result_ = driver_.push_context(state.context);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    CudaDriver::Context context = nullptr;
    if (result_ == CudaDriver::success) driver_.pop_context(&context);
  }
  [[nodiscard]] CudaDriver::Result result() const { return result_; }

 private:
  const CudaDriver& driver_;
  CudaDriver::Result result_;
};

CudaState& state_of(void* state) { return *static_cast<CudaState*>(state); }

/// What the driver refuses, and why. After a kernel that failed, the context of the process is of
/// no use any more.
axle_status refused(const CudaState& state, const char* what, CudaDriver::Result result,
                    axle_error* error) {
  const bool for_good = result >= CudaDriver::first_of_failed_kernels;
  return report_failure(error, AXLE_DEVICE, "device 'cuda:%u': %s: %s (%d)%s", state.number, what,
                        state.driver.text_of(result), result,
                        for_good ? "; start the process again, or use 'cpu'" : "");
}

axle_status no_memory(const CudaState& state, std::size_t bytes, axle_error* error) {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  state.driver.memory_info(&free_bytes, &total);
  return report_failure(error, AXLE_NO_MEMORY,
                        "device 'cuda:%u' has no memory for %zu bytes: %zu of %zu MiB are free",
                        state.number, bytes, free_bytes >> 20U, total >> 20U);
}

/// Name, compute capability and driver.
void describe_device(const CudaDriver& driver, int device, DeviceFacts& facts) {
  char name[64] = "";
  int major = 0;
  int minor = 0;
  int version = 0;
  driver.device_name(name, sizeof name, device);
  driver.device_attribute(&major, CudaDriver::compute_capability_major, device);
  driver.device_attribute(&minor, CudaDriver::compute_capability_minor, device);
  driver.driver_version(&version);
  std::snprintf(facts.description, sizeof facts.description,
                "%s, compute capability %d.%d, driver for CUDA %d.%d", name, major, minor,
                version / 1000, version % 1000 / 10);
}

/// Why this library's code cannot run with the driver that is there.
bool fits_driver(const CudaCode& code, const CudaDriver& driver, DeviceFacts& facts) {
  int version = 0;
  driver.driver_version(&version);
  // A driver runs what a toolkit of its major version or an older one has compiled.
  if (version / 1000 >= code.toolkit / 1000) return true;
  std::snprintf(facts.problem, sizeof facts.problem,
                "the code in this library is of CUDA %d.%d, and the driver is for CUDA %d.%d: "
                "update NVIDIA's driver, or use 'cpu'",
                code.toolkit / 1000, code.toolkit % 1000 / 10, version / 1000, version % 1000 / 10);
  return false;
}

/// False: there is no such device. A problem with all devices is one of number 0.
bool find_device(const CudaCode& code, std::uint32_t number, CudaDriver& driver, int& device,
                 DeviceFacts& facts) {
  facts = {};
  if (code.fatbin == nullptr) {
    std::snprintf(facts.problem, sizeof facts.problem,
                  "this library was built without CUDA code; the variant 'cuda' has it");
    return number == 0;
  }
  if (!driver.load(facts.problem, sizeof facts.problem)) return number == 0;
  int count = 0;
  driver.device_count(&count);
  if (count <= 0) {
    std::snprintf(facts.problem, sizeof facts.problem, "NVIDIA's driver sees no GPU");
    return number == 0;
  }
  if (number >= static_cast<std::uint32_t>(count) ||
      driver.device(&device, static_cast<int>(number)) != CudaDriver::success)
    return false;
  describe_device(driver, device, facts);
  fits_driver(code, driver, facts);
  return true;
}

axle_status load_code(const CudaCode& code, const DeviceFacts& facts, CudaState& state,
                      axle_error* error) {
  const CudaDriver& driver = state.driver;
  const CudaDriver::Result loaded = driver.load_module(&state.module, code.fatbin);
  if (loaded == CudaDriver::no_code_for_device)
    return report_failure(error, AXLE_UNSUPPORTED,
                          "device 'cuda:%u' (%s): this library has code for compute capability %s "
                          "only; use 'cpu'",
                          state.number, facts.description, code.targets);
  if (loaded != CudaDriver::success) return refused(state, "the code is not taken", loaded, error);
  for (std::size_t i = 0; i < device_kernels; ++i) {
    const char* const name = device_kernel(static_cast<DeviceKernel>(i)).name;
    const CudaDriver::Result found = driver.get_function(&state.functions[i], state.module, name);
    if (found != CudaDriver::success) return refused(state, name, found, error);
  }
  return AXLE_OK;
}

axle_status open_state(const CudaCode& code, CudaState& state, axle_error* error) {
  DeviceFacts facts;
  if (!find_device(code, state.number, state.driver, state.device, facts))
    return report_failure(error, AXLE_UNSUPPORTED, "there is no device 'cuda:%u'", state.number);
  if (facts.problem[0] != '\0')
    return report_failure(error, AXLE_UNSUPPORTED, "device 'cuda:%u': %s", state.number,
                          facts.problem);
  // The context that the CUDA runtime, and so every other package, uses as well.
  const CudaDriver::Result retained = state.driver.retain_context(&state.context, state.device);
  if (retained == CudaDriver::out_of_memory)
    return report_failure(error, AXLE_NO_MEMORY, "device 'cuda:%u' (%s) has no memory left",
                          state.number, facts.description);
  if (retained != CudaDriver::success) return refused(state, "no context", retained, error);
  const Current current(state);
  if (current.result() != CudaDriver::success)
    return refused(state, "no context", current.result(), error);
  return load_code(code, facts, state, error);
}

void close_state(void* opened) {
  CudaState& state = state_of(opened);
  if (state.module != nullptr) {
    const Current current(state);
    state.driver.unload_module(state.module);
  }
  if (state.context != nullptr) state.driver.release_context(state.device);
  state.~CudaState();
  free(opened);
}

axle_status allocate(void* opened, std::size_t bytes, std::uint64_t& memory, axle_error* error) {
  const CudaState& state = state_of(opened);
  const Current current(state);
  const CudaDriver::Result result = current.result() != CudaDriver::success
                                        ? current.result()
                                        : state.driver.allocate(&memory, bytes);
  if (result == CudaDriver::out_of_memory) return no_memory(state, bytes, error);
  return result == CudaDriver::success ? AXLE_OK : refused(state, "memory", result, error);
}

void release(void* opened, std::uint64_t memory) {
  const CudaState& state = state_of(opened);
  const Current current(state);
  state.driver.release(memory);
}

/// Addresses say themselves whose they are: either may be the CPU's or a device's.
axle_status copy(const CudaState& state, std::uint64_t to, std::uint64_t from, std::size_t bytes,
                 axle_error* error) {
  const Current current(state);
  const CudaDriver::Result result = current.result() != CudaDriver::success
                                        ? current.result()
                                        : state.driver.copy(to, from, bytes);
  return result == CudaDriver::success ? AXLE_OK : refused(state, "copying", result, error);
}

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

axle_status write(void* opened, std::uint64_t memory, const void* from, std::size_t bytes,
                  axle_error* error) {
  return copy(state_of(opened), memory, address_of(from), bytes, error);
}

axle_status launch(void* opened, const DeviceLaunch& launch, axle_error* error) {
  const CudaState& state = state_of(opened);
  const DeviceKernelRow& row = device_kernel(launch.kernel);
  std::uint32_t numbers[most_arguments];
  std::uint64_t memories[most_arguments];
  void* parameters[most_arguments];
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const DeviceArgument& argument = launch.arguments[i];
    memories[i] = argument.value;
    numbers[i] = static_cast<std::uint32_t>(argument.value);
    parameters[i] = argument.is_memory ? static_cast<void*>(&memories[i]) : &numbers[i];
  }
  const Current current(state);
  const CudaDriver::Result result =
      current.result() != CudaDriver::success
          ? current.result()
          : state.driver.launch(state.functions[static_cast<std::size_t>(launch.kernel)],
                                launch.blocks_x, launch.blocks_y, 1, row.threads, 1, 1, 0, nullptr,
                                parameters, nullptr);
  return result == CudaDriver::success ? AXLE_OK : refused(state, row.name, result, error);
}

axle_status read(void* opened, std::uint64_t memory, void* to, std::size_t bytes,
                 axle_error* error) {
  const CudaState& state = state_of(opened);
  const axle_status status = copy(state, address_of(to), memory, bytes, error);
  if (status != AXLE_OK) return status;
  // A copy to memory of a device is not awaited.
  const Current current(state);
  const CudaDriver::Result result = state.driver.synchronise(nullptr);
  return result == CudaDriver::success ? AXLE_OK : refused(state, "computing", result, error);
}

}  // namespace

bool describe_cuda(const CudaCode& code, std::uint32_t number, DeviceFacts& facts) {
  CudaDriver driver;
  int device = 0;
  return find_device(code, number, driver, device, facts);
}

axle_status open_cuda(const CudaCode& code, std::uint32_t number, void*& state, axle_error* error) {
  void* place = nullptr;
  if (posix_memalign(&place, 64, sizeof(CudaState)) != 0)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for device 'cuda:%u'", number);
  CudaState* const opened = ::new (place) CudaState;
  opened->number = number;
  const axle_status status = open_state(code, *opened, error);
  if (status != AXLE_OK) {
    close_state(opened);
    return status;
  }
  state = opened;
  return AXLE_OK;
}

constinit const DeviceKind cuda_devices{
    .name = "cuda",
    .least_matrix_rows = first_matrix_rows,
    .describe = [](std::uint32_t number,
                   DeviceFacts& facts) { return describe_cuda(cuda_code(), number, facts); },
    .open = [](std::uint32_t number, void*& state,
               axle_error* error) { return open_cuda(cuda_code(), number, state, error); },
    .close = close_state,
    .allocate = allocate,
    .release = release,
    .write = write,
    .launch = launch,
    .read = read};

}  // namespace axle::runtime

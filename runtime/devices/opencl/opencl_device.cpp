#include "runtime/devices/opencl/opencl_device.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/devices/opencl/opencl_code.h"
#include "runtime/devices/opencl/opencl_driver.h"
#include "runtime/error_message.h"

namespace axle::runtime {
namespace {

/// Of the kernels that are written in OpenCL C: those before the matrix kernels.
constexpr std::size_t opencl_kernels = 4;
/// What the largest block has.
constexpr std::size_t threads_needed = 256;
constexpr std::size_t local_bytes_needed = std::size_t{17} << 10U;

struct OpenclState {
  OpenclDriver driver;
  std::uint32_t number = 0;
  OpenclDriver::Device device = nullptr;
  OpenclDriver::Context context = nullptr;
  OpenclDriver::Queue queue = nullptr;
  OpenclDriver::Program program = nullptr;
  OpenclDriver::Kernel kernels[opencl_kernels] = {};
};

OpenclState& opencl_state(void* state) { return *static_cast<OpenclState*>(state); }

OpenclDriver::Memory memory_of(std::uint64_t handle) {
  static_assert(sizeof(OpenclDriver::Memory) == sizeof handle);
  return std::bit_cast<OpenclDriver::Memory>(handle);
}

bool is_memory_short(OpenclDriver::Result result) {
  return result == OpenclDriver::no_memory_object || result == OpenclDriver::out_of_resources ||
         result == OpenclDriver::out_of_host_memory || result == OpenclDriver::invalid_buffer_size;
}

/// What the driver refuses, by OpenCL's number for it.
axle_status opencl_refused(const OpenclState& state, const char* what, OpenclDriver::Result result,
                           axle_error* error) {
  return report_failure(error, is_memory_short(result) ? AXLE_NO_MEMORY : AXLE_DEVICE,
                        "device 'opencl:%u': %s: OpenCL error %d%s", state.number, what, result,
                        is_memory_short(result) ? ", no memory is left" : "");
}

template <class T>
T fact_of(const OpenclDriver& driver, OpenclDriver::Device device, std::uint32_t what) {
  T value{};
  driver.device_info(device, what, sizeof value, &value, nullptr);
  return value;
}

/// Why the kernels cannot run there, or not with the CPU's bytes.
const char* problem_of(const OpenclDriver& driver, OpenclDriver::Device device) {
  const auto fact = [&](std::uint32_t what) {
    return fact_of<std::uint32_t>(driver, device, what) != 0;
  };
  if (!fact(OpenclDriver::is_available)) return "its driver says that it is not available";
  if (!fact(OpenclDriver::has_compiler)) return "its driver has no compiler";
  if (!fact(OpenclDriver::is_little_endian)) return "it is big-endian";
  const auto floats = fact_of<OpenclDriver::Flags>(driver, device, OpenclDriver::float_properties);
  if ((floats & OpenclDriver::rounds_to_nearest) == 0) return "it does not round to the nearest";
  if ((floats & OpenclDriver::keeps_subnormals) == 0)
    return "it takes subnormal numbers for zero, so that results would differ from the CPU's";
  if (fact_of<std::size_t>(driver, device, OpenclDriver::most_threads) < threads_needed)
    return "it has no groups of 256 work items";
  if (fact_of<std::uint64_t>(driver, device, OpenclDriver::local_memory_bytes) < local_bytes_needed)
    return "it has less than 17 KiB of local memory";
  return "";
}

/// False: there is no such device. A problem with all devices is one of number 0.
bool find_opencl_device(std::uint32_t number, OpenclDriver& driver, OpenclDriver::Device& device,
                        DeviceFacts& facts) {
  facts = {};
  if (!driver.load(facts.problem, sizeof facts.problem)) return number == 0;
  if (!driver.find_device(number, device)) return false;
  char name[128] = "";
  char version[160] = "";
  driver.device_info(device, OpenclDriver::device_name, sizeof name - 1, name, nullptr);
  driver.device_info(device, OpenclDriver::device_version, sizeof version - 1, version, nullptr);
  std::snprintf(facts.description, sizeof facts.description, "%.72s, %.48s", name, version);
  std::snprintf(facts.problem, sizeof facts.problem, "%s", problem_of(driver, device));
  return true;
}

bool describe_opencl(std::uint32_t number, DeviceFacts& facts) {
  OpenclDriver driver;
  OpenclDriver::Device device = nullptr;
  return find_opencl_device(number, driver, device, facts);
}

/// What the compiler said first.
axle_status not_compiled(const OpenclState& state, OpenclDriver::Result result, axle_error* error) {
  std::size_t size = 0;
  state.driver.build_info(state.program, state.device, OpenclDriver::build_log, 0, nullptr, &size);
  char* const log = static_cast<char*>(calloc(size + 1, 1));
  if (log != nullptr && size > 0)
    state.driver.build_info(state.program, state.device, OpenclDriver::build_log, size, log,
                            nullptr);
  const axle_status status = report_failure(
      error, AXLE_DEVICE, "device 'opencl:%u' does not compile the kernels (%d): %.160s",
      state.number, result, log != nullptr ? log : "");
  free(log);
  return status;
}

axle_status compile(OpenclState& state, axle_error* error) {
  const OpenclDriver& driver = state.driver;
  const OpenclCode code = opencl_code();
  OpenclDriver::Result result = OpenclDriver::success;
  const char* text = code.text;
  state.program = driver.create_program(state.context, 1, &text, &code.size, &result);
  if (state.program == nullptr)
    return opencl_refused(state, "the code is not taken", result, error);
  result = driver.build(state.program, 1, &state.device, "-cl-std=CL1.2", nullptr, nullptr);
  if (result != OpenclDriver::success) return not_compiled(state, result, error);
  for (std::size_t i = 0; i < opencl_kernels; ++i) {
    const char* const name = device_kernel(static_cast<DeviceKernel>(i)).name;
    state.kernels[i] = driver.create_kernel(state.program, name, &result);
    if (state.kernels[i] == nullptr) return opencl_refused(state, name, result, error);
  }
  return AXLE_OK;
}

axle_status open_opencl_state(OpenclState& state, axle_error* error) {
  DeviceFacts facts;
  if (!find_opencl_device(state.number, state.driver, state.device, facts))
    return report_failure(error, AXLE_UNSUPPORTED, "there is no device 'opencl:%u'", state.number);
  if (facts.problem[0] != '\0')
    return report_failure(error, AXLE_UNSUPPORTED, "device 'opencl:%u'%s%s%s: %s", state.number,
                          facts.description[0] != '\0' ? " (" : "", facts.description,
                          facts.description[0] != '\0' ? ")" : "", facts.problem);
  OpenclDriver::Result result = OpenclDriver::success;
  state.context = state.driver.create_context(nullptr, 1, &state.device, nullptr, nullptr, &result);
  if (state.context == nullptr) return opencl_refused(state, "no context", result, error);
  state.queue = state.driver.create_queue(state.context, state.device, 0, &result);
  if (state.queue == nullptr) return opencl_refused(state, "no command queue", result, error);
  return compile(state, error);
}

void close_opencl(void* opened) {
  OpenclState& state = opencl_state(opened);
  for (const OpenclDriver::Kernel kernel : state.kernels) {
    if (kernel != nullptr) state.driver.release_kernel(kernel);
  }
  if (state.program != nullptr) state.driver.release_program(state.program);
  if (state.queue != nullptr) state.driver.release_queue(state.queue);
  if (state.context != nullptr) state.driver.release_context(state.context);
  state.~OpenclState();
  free(opened);
}

axle_status open_opencl(std::uint32_t number, void*& state, axle_error* error) {
  void* place = nullptr;
  if (posix_memalign(&place, 64, sizeof(OpenclState)) != 0)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for device 'opencl:%u'", number);
  OpenclState* const opened = ::new (place) OpenclState;
  opened->number = number;
  const axle_status status = open_opencl_state(*opened, error);
  if (status != AXLE_OK) {
    close_opencl(opened);
    return status;
  }
  state = opened;
  return AXLE_OK;
}

axle_status allocate_opencl(void* opened, std::size_t bytes, std::uint64_t& memory,
                            axle_error* error) {
  const OpenclState& state = opencl_state(opened);
  OpenclDriver::Result result = OpenclDriver::success;
  const OpenclDriver::Memory made =
      state.driver.create_buffer(state.context, OpenclDriver::read_write, bytes, nullptr, &result);
  memory = reinterpret_cast<std::uintptr_t>(made);
  if (made != nullptr) return AXLE_OK;
  if (!is_memory_short(result)) return opencl_refused(state, "memory", result, error);
  const auto total =
      fact_of<std::uint64_t>(state.driver, state.device, OpenclDriver::global_memory_bytes);
  return report_failure(error, AXLE_NO_MEMORY,
                        "device 'opencl:%u' has no memory for %zu bytes; it has %llu MiB in all",
                        state.number, bytes, static_cast<unsigned long long>(total >> 20U));
}

void release_opencl(void* opened, std::uint64_t memory) {
  opencl_state(opened).driver.release_memory(memory_of(memory));
}

axle_status write_opencl(void* opened, std::uint64_t memory, const void* from, std::size_t bytes,
                         axle_error* error) {
  const OpenclState& state = opencl_state(opened);
  const OpenclDriver::Result result = state.driver.enqueue_write(
      state.queue, memory_of(memory), 1, 0, bytes, from, 0, nullptr, nullptr);
  return result == OpenclDriver::success ? AXLE_OK
                                         : opencl_refused(state, "copying", result, error);
}

axle_status launch_opencl(void* opened, const DeviceLaunch& launch, axle_error* error) {
  const OpenclState& state = opencl_state(opened);
  const DeviceKernelRow& row = device_kernel(launch.kernel);
  const OpenclDriver::Kernel kernel = state.kernels[static_cast<std::size_t>(launch.kernel)];
  for (std::uint32_t i = 0; i < launch.arguments.size(); ++i) {
    const DeviceArgument& argument = launch.arguments[i];
    const std::uint32_t number = static_cast<std::uint32_t>(argument.value);
    const OpenclDriver::Result set =
        argument.is_memory
            ? state.driver.set_argument(kernel, i, sizeof argument.value, &argument.value)
            : state.driver.set_argument(kernel, i, sizeof number, &number);
    if (set != OpenclDriver::success) return opencl_refused(state, row.name, set, error);
  }
  const std::size_t block[] = {row.threads, 1};
  const std::size_t threads[] = {std::size_t{launch.blocks_x} * row.threads, launch.blocks_y};
  const OpenclDriver::Result result = state.driver.enqueue_kernel(
      state.queue, kernel, 2, nullptr, threads, block, 0, nullptr, nullptr);
  return result == OpenclDriver::success ? AXLE_OK : opencl_refused(state, row.name, result, error);
}

axle_status read_opencl(void* opened, std::uint64_t memory, void* to, std::size_t bytes,
                        axle_error* error) {
  const OpenclState& state = opencl_state(opened);
  const OpenclDriver::Result result = state.driver.enqueue_read(state.queue, memory_of(memory), 1,
                                                                0, bytes, to, 0, nullptr, nullptr);
  return result == OpenclDriver::success ? AXLE_OK
                                         : opencl_refused(state, "computing", result, error);
}

}  // namespace

constinit const DeviceKind opencl_devices{.name = "opencl",
                                          .least_matrix_rows = 0,
                                          .describe = describe_opencl,
                                          .open = open_opencl,
                                          .close = close_opencl,
                                          .allocate = allocate_opencl,
                                          .release = release_opencl,
                                          .write = write_opencl,
                                          .launch = launch_opencl,
                                          .read = read_opencl};

}  // namespace axle::runtime

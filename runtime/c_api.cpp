// The C interface over Engine and Linear: checks of pointers and sizes, nothing else.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/activation_types.h"
#include "runtime/axle_runtime.h"
#include "runtime/bench.h"
#include "runtime/c_runtime.h"
#include "runtime/devices/device_layer.h"
#include "runtime/linear.h"
#include "runtime/selftest.h"

using axle::runtime::clear_failure;
using axle::runtime::Device;
using axle::runtime::DeviceLayer;
using axle::runtime::Engine;
using axle::runtime::KernelRow;
using axle::runtime::Linear;
using axle::runtime::missing_argument;
using axle::runtime::report_failure;

struct axle_linear {
  explicit axle_linear(Engine& engine) : linear(engine) {}
  axle_linear(const axle_linear&) = delete;
  axle_linear& operator=(const axle_linear&) = delete;
  ~axle_linear();
  Linear linear;
  DeviceLayer* on_device = nullptr;  ///< then `linear` has nothing but its shape
};

namespace {

/// `new` without the C++ runtime library.
template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  void* place = nullptr;
  if (posix_memalign(&place, 64, sizeof(T)) != 0) return nullptr;
  return ::new (place) T(static_cast<Arguments&&>(arguments)...);
}

template <class T>
void destroy(T* object) {
  if (object == nullptr) return;
  object->~T();
  free(object);
}

/// Brings what has been packed to a device.
axle_status move_to(Device& device, axle_linear& linear, axle_error* error) {
  linear.on_device = make<DeviceLayer>(device);
  if (linear.on_device == nullptr)
    return report_failure(error, AXLE_NO_MEMORY, "no memory for a layer");
  const axle_status status = linear.on_device->take(linear.linear, error);
  linear.linear.drop_packed();
  return status;
}

struct InfoRow {
  const char* key;
  void (*write)(Engine& engine, char* to, std::size_t size);
};

constexpr InfoRow facts[] = {
    {"version", [](Engine&, char* to,
                   std::size_t size) { std::snprintf(to, size, "%s", axle_runtime_version()); }},
    {"kernel",
     [](Engine& engine, char* to, std::size_t size) {
       std::snprintf(to, size, "%s", engine.kernels().front()->name);
     }},
    {"kernels",
     [](Engine& engine, char* to, std::size_t size) {
       std::size_t used = 0;
       to[0] = '\0';
       for (const KernelRow* row : engine.kernels()) {
         const int more =
             std::snprintf(to + used, size - used, "%s%s", used == 0 ? "" : " ", row->name);
         if (more < 0 || static_cast<std::size_t>(more) >= size - used) return;
         used += static_cast<std::size_t>(more);
       }
     }},
    {"forced",
     [](Engine& engine, char* to, std::size_t size) {
       std::snprintf(to, size, "%s", engine.forced() ? "yes" : "no");
     }},
    {"threads", [](Engine& engine, char* to,
                   std::size_t size) { std::snprintf(to, size, "%d", engine.pool().threads()); }},
    {"tuned_shapes",
     [](Engine& engine, char* to, std::size_t size) {
       std::snprintf(to, size, "%zu", engine.chosen_shapes());
     }},
};

}  // namespace

axle_linear::~axle_linear() { destroy(on_device); }

uint32_t axle_runtime_abi_version(void) { return AXLE_RUNTIME_ABI_VERSION; }

const char* axle_runtime_version(void) { return AXLE_RUNTIME_VERSION; }

const char* axle_status_name(axle_status status) {
  switch (status) {
    case AXLE_OK:
      return "ok";
    case AXLE_BAD_ARGUMENT:
      return "bad_argument";
    case AXLE_NO_MEMORY:
      return "no_memory";
    case AXLE_UNSUPPORTED:
      return "unsupported";
    case AXLE_MISMATCH:
      return "mismatch";
    case AXLE_IO:
      return "io";
    case AXLE_MALFORMED:
      return "malformed";
    case AXLE_DEVICE:
      return "device";
    default:
      return "unknown";
  }
}

size_t axle_kernel_count(void) { return axle::runtime::kernel_table().size(); }

axle_status axle_kernel_at(size_t index, axle_kernel_info* info) {
  const axle_status status = axle::runtime::check_struct(nullptr, "info", info);
  if (status != AXLE_OK) return status;
  if (index >= axle_kernel_count()) return AXLE_BAD_ARGUMENT;
  const KernelRow& row = axle::runtime::kernel_table()[index];
  axle_kernel_info found{};
  found.name = row.name;
  found.built = row.set != nullptr ? 1 : 0;
  found.usable = axle::runtime::is_usable(row) ? 1 : 0;
  axle::runtime::list_missing(row, found.missing, sizeof found.missing);
  axle::runtime::give_struct(found, *info);
  return AXLE_OK;
}

axle_status axle_runtime_create(const axle_runtime_options* options, axle_runtime** out,
                                axle_error* error) {
  clear_failure(error);
  if (out == nullptr) return missing_argument(error, "out");
  *out = nullptr;
  axle_runtime_options known{};
  axle_status status = AXLE_OK;
  if (options != nullptr) status = axle::runtime::take_struct(error, "options", options, known);
  if (status != AXLE_OK) return status;
  if (known.threads < 0)
    return report_failure(error, AXLE_BAD_ARGUMENT, "threads is %d; it must be 0 (all) or more",
                          known.threads);
  axle_runtime* const runtime = make<axle_runtime>(known.threads);
  if (runtime == nullptr) return report_failure(error, AXLE_NO_MEMORY, "no memory for a runtime");
  status = runtime->engine.choose_kernels(known.kernel, error);
  if (status != AXLE_OK) {
    destroy(runtime);
    return status;
  }
  *out = runtime;
  return AXLE_OK;
}

void axle_runtime_destroy(axle_runtime* runtime) { destroy(runtime); }

const char* axle_runtime_kernel(axle_runtime* runtime, axle_mode mode, size_t rows) {
  if (runtime == nullptr || mode < AXLE_DA8W8 || mode > AXLE_A16F8) return "";
  const std::size_t planes = axle::runtime::plane_rows(rows > 0 ? rows : 1, mode);
  return runtime->engine.kernel_for(planes, mode).name;
}

axle_status axle_runtime_info(axle_runtime* runtime, size_t index, const char** key, char* value,
                              size_t size) {
  if (runtime == nullptr || key == nullptr || value == nullptr || size == 0 ||
      index >= sizeof facts / sizeof facts[0])
    return AXLE_BAD_ARGUMENT;
  *key = facts[index].key;
  facts[index].write(runtime->engine, value, size);
  return AXLE_OK;
}

axle_status axle_runtime_selftest(axle_runtime* runtime, axle_error* error) {
  clear_failure(error);
  if (runtime == nullptr) return missing_argument(error, "runtime");
  return axle::runtime::selftest(runtime->engine, error);
}

axle_status axle_linear_create(axle_runtime* runtime, const axle_linear_options* options,
                               axle_linear** out, axle_error* error) {
  clear_failure(error);
  if (out == nullptr) return missing_argument(error, "out");
  *out = nullptr;
  if (runtime == nullptr) return missing_argument(error, "runtime");
  axle_linear_options known;
  axle_status status = axle::runtime::take_struct(error, "options", options, known);
  if (status != AXLE_OK) return status;
  // Before anything is packed.
  Device* device = nullptr;
  if (known.device != nullptr) status = axle::runtime::check(known, error);
  if (status == AXLE_OK && !axle::runtime::is_cpu(known.device))
    status = runtime->devices.get(known.device, device, error);
  if (status != AXLE_OK) return status;
  axle_linear* const linear = make<axle_linear>(runtime->engine);
  if (linear == nullptr) return report_failure(error, AXLE_NO_MEMORY, "no memory for a layer");
  status = linear->linear.pack(known, error);
  if (status == AXLE_OK && device != nullptr) status = move_to(*device, *linear, error);
  if (status != AXLE_OK) {
    destroy(linear);
    return status;
  }
  *out = linear;
  return AXLE_OK;
}

void axle_linear_destroy(axle_linear* linear) { destroy(linear); }

const char* axle_linear_kernel(axle_linear* linear, size_t rows) {
  if (linear == nullptr) return "";
  if (linear->on_device != nullptr) return linear->on_device->kernel_for(rows > 0 ? rows : 1);
  const Linear& layer = linear->linear;
  return layer.engine().choice_for(layer.shape(), rows > 0 ? rows : 1).kernel->name;
}

axle_status axle_linear_forward(axle_linear* linear, axle_type x_type, const void* x, size_t m,
                                float* y, axle_error* error) {
  clear_failure(error);
  if (linear == nullptr) return missing_argument(error, "linear");
  if (m > 0 && x == nullptr) return missing_argument(error, "x");
  if (m > 0 && y == nullptr) return missing_argument(error, "y");
  if (axle::runtime::activation_bytes(x_type) == 0)
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "x must be float32, bfloat16 or float16, not type %d", x_type);
  if (linear->on_device != nullptr) return linear->on_device->forward(x_type, x, m, y, error);
  return linear->linear.forward(x_type, x, m, y, error);
}

axle_status axle_runtime_bench(axle_runtime* runtime, const axle_bench_options* options,
                               axle_bench_result* result, axle_error* error) {
  clear_failure(error);
  if (runtime == nullptr) return missing_argument(error, "runtime");
  axle_bench_options known;
  axle_status status = axle::runtime::take_struct(error, "options", options, known);
  if (status == AXLE_OK) status = axle::runtime::check_struct(error, "result", result);
  if (status != AXLE_OK) return status;
  axle_bench_result measured{};
  status = axle::runtime::bench(runtime->engine, known, measured, error);
  if (status == AXLE_OK) axle::runtime::give_struct(measured, *result);
  return status;
}

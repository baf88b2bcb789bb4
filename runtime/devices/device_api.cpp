// The C interface of devices: checks of pointers and sizes, nothing else.

#include <cstdio>
#include <cstring>

#include "runtime/c_runtime.h"
#include "runtime/selftest.h"

using axle::runtime::DeviceFacts;
using axle::runtime::DeviceKind;
using axle::runtime::missing_argument;
using axle::runtime::report_failure;

namespace {

void fill_info(const DeviceKind& kind, std::uint32_t number, const DeviceFacts& facts,
               axle_device_info& info) {
  std::snprintf(info.name, sizeof info.name, "%s:%u", kind.name, number);
  info.usable = facts.problem[0] == '\0' ? 1 : 0;
  std::memcpy(info.description, facts.description, sizeof info.description);
  std::memcpy(info.problem, facts.problem, sizeof info.problem);
}

}  // namespace

axle_status axle_device_at(size_t index, axle_device_info* info) {
  const axle_status status = axle::runtime::check_struct(nullptr, "info", info);
  if (status != AXLE_OK) return status;
  std::size_t before = 0;
  for (const DeviceKind* kind : axle::runtime::device_kinds()) {
    DeviceFacts facts;
    for (std::uint32_t number = 0; kind->describe(number, facts); ++number, ++before) {
      if (before != index) continue;
      axle_device_info found{};
      fill_info(*kind, number, facts, found);
      axle::runtime::give_struct(found, *info);
      return AXLE_OK;
    }
  }
  return AXLE_BAD_ARGUMENT;
}

axle_status axle_device_selftest(axle_runtime* runtime, const char* device, axle_error* error) {
  axle::runtime::clear_failure(error);
  if (runtime == nullptr) return missing_argument(error, "runtime");
  if (axle::runtime::is_cpu(device))
    return report_failure(error, AXLE_BAD_ARGUMENT,
                          "the CPU is no device of its own: axle_runtime_selftest tests it");
  axle::runtime::Device* opened = nullptr;
  const axle_status status = runtime->devices.get(device, opened, error);
  if (status != AXLE_OK) return status;
  return axle::runtime::selftest(runtime->engine, *opened, error);
}

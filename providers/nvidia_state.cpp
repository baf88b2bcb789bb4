#include "providers/nvidia_state.h"

#include <algorithm>

#include "providers/gpu_state.h"

namespace axle::providers {

using detect::Driver;
using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

std::string render_version(MajorMinor version) {
  return std::to_string(version.first) + "." + std::to_string(version.second);
}

const Driver* counted_nvidia_driver(const Machine& machine) {
  const Driver* driver = detect::find_driver(machine, GpuVendor::nvidia);
  if (driver == nullptr) return nullptr;
  if (!counted_gpus(machine, GpuVendor::nvidia).empty()) return driver;
  const bool any = std::ranges::any_of(
      machine.gpus, [](const Gpu& gpu) { return gpu.vendor == GpuVendor::nvidia; });
  return !any && driver->usable == Presence::present ? driver : nullptr;
}

std::optional<MajorMinor> newest_capability(const Machine& machine) {
  constexpr unsigned last_minor = 9;
  std::optional<MajorMinor> newest;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::nvidia)) {
    const auto version = parse_major_minor(gpu->arch);
    if (version && version->second <= last_minor) newest = std::max(newest, version);
  }
  return newest;
}

}  // namespace axle::providers

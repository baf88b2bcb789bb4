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

bool is_tegra(MajorMinor capability) {
  constexpr MajorMinor tegra[] = {{5, 3}, {6, 2}, {7, 2}, {8, 7}, {10, 1}, {11, 0}};
  return std::ranges::find(tegra, capability) != std::end(tegra);
}

bool is_thor(MajorMinor capability) {
  return capability == MajorMinor(10, 1) || capability == MajorMinor(11, 0);
}

const Driver* counted_nvidia_driver(const Machine& machine, const GpuPolicy& policy) {
  const Driver* driver = detect::find_driver(machine, GpuVendor::nvidia);
  if (driver == nullptr) return nullptr;
  if (!counted_gpus(machine, GpuVendor::nvidia, policy).empty()) return driver;
  if (is_forced(*driver)) return driver;
  const bool any = std::ranges::any_of(
      machine.gpus, [](const Gpu& gpu) { return gpu.vendor == GpuVendor::nvidia; });
  return !any && driver->usable == Presence::present ? driver : nullptr;
}

bool is_cuda_version(MajorMinor version, const Driver& driver) {
  constexpr unsigned first_major = 11;
  constexpr unsigned largest_part = 99;
  if (is_forced(driver)) return true;
  return version.first >= first_major && version.first <= largest_part &&
         version.second <= largest_part;
}

std::vector<std::optional<MajorMinor>> counted_capabilities(const Machine& machine,
                                                            const GpuPolicy& policy) {
  std::vector<std::optional<MajorMinor>> found;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::nvidia, policy)) {
    const auto arch = parse_gpu_arch(*gpu);
    const auto capability = arch ? std::optional(MajorMinor((*arch)[0], (*arch)[1])) : std::nullopt;
    if (std::ranges::find(found, capability) == found.end()) found.push_back(capability);
  }
  return found;
}

Facts what_capabilities_are(const Machine& machine, const GpuPolicy& policy, std::string needed) {
  std::vector<std::string> versions;
  for (const auto& capability : counted_capabilities(machine, policy))
    versions.push_back(capability ? render_version(*capability) : std::string());
  if (versions == std::vector<std::string>{""})
    return {{FactCode::value_unknown, "compute capability of the GPU", {std::move(needed)}}};
  return what_gpus_are(FactCode::gpu_capability, machine, GpuVendor::nvidia, policy, versions,
                       std::move(needed));
}

std::string driver_title(const Driver& driver) {
  const std::string& version =
      driver.library_version.empty() ? driver.kernel_version : driver.library_version;
  return version.empty() ? "the driver" : "driver " + version;
}

bool has_capability(const Machine& machine, bool (*is)(MajorMinor)) {
  return std::ranges::any_of(machine.gpus, [&](const Gpu& gpu) {
    const auto arch = parse_gpu_arch(gpu);
    return gpu.vendor == GpuVendor::nvidia && arch && is({(*arch)[0], (*arch)[1]});
  });
}

}  // namespace axle::providers

#include "providers/gpu_state.h"

#include <charconv>

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

std::vector<const Gpu*> counted_gpus(const Machine& machine, GpuVendor vendor) {
  std::vector<const Gpu*> gpus;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.vendor == vendor && gpu.usable == Presence::present && !gpu.masked) {
      gpus.push_back(&gpu);
    }
  }
  return gpus;
}

std::string describe_no_gpu(const Machine& machine, GpuVendor vendor) {
  const std::string title(vendor_title(vendor));
  const Gpu* broken = nullptr;
  bool masked = false;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.vendor != vendor) continue;
    if (gpu.masked && gpu.usable == Presence::present) {
      masked = true;
    } else if (broken == nullptr || broken->usable == Presence::unknown) {
      broken = &gpu;
    }
  }
  if (masked) return title + " GPU present but hidden from programs by a device mask";
  if (broken == nullptr) return "no " + title + " GPU";
  if (broken->usable == Presence::unknown) {
    return "it is not known whether the " + title + " GPU is usable";
  }
  const detect::Driver* driver = detect::find_driver(machine, vendor);
  std::string reason = broken->reason;
  if (reason.empty() && driver != nullptr) reason = driver->reason;
  if (reason.empty()) reason = "the driver does not work";
  return title + " GPU present but not usable: " + reason;
}

std::string_view vendor_title(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::nvidia:
      return "NVIDIA";
    case GpuVendor::amd:
      return "AMD";
    case GpuVendor::intel:
      return "Intel";
  }
  return "";
}

std::optional<std::pair<unsigned, unsigned>> parse_major_minor(std::string_view text) {
  constexpr unsigned largest = 9999;
  std::pair<unsigned, unsigned> version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  if (minor.ec != std::errc() || (minor.ptr != end && *minor.ptr != '.')) return std::nullopt;
  if (version.first > largest || version.second > largest) return std::nullopt;
  return version;
}

}  // namespace axle::providers

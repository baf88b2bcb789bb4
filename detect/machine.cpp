#include "detect/machine.h"

#include <algorithm>

#include "detect/gpu_vendors.h"

namespace axle::detect {

unsigned highest_x86_64_level(const CapabilityFacts& facts) {
  const auto has = [&](Capability capability) { return facts.has(capability); };
  unsigned level = 0;
  while (level < last_x86_64_level && std::ranges::all_of(x86_64_level(level + 1), has)) ++level;
  return level;
}

const Driver* find_driver(const Machine& machine, GpuVendor vendor) {
  const auto found = std::ranges::find(machine.drivers, vendor, &Driver::vendor);
  return found == machine.drivers.end() ? nullptr : &*found;
}

std::string_view render_vendor(GpuVendor vendor) { return gpu_vendor(vendor).word; }

std::string_view render_presence(Presence presence) {
  switch (presence) {
    case Presence::unknown:
      return "unknown";
    case Presence::absent:
      return "absent";
    case Presence::blocked:
      return "blocked";
    case Presence::present:
      return "present";
  }
  return "";
}

std::string_view render_arch(Arch arch) {
  switch (arch) {
    case Arch::other:
      return "other";
    case Arch::x86_64:
      return "x86_64";
    case Arch::aarch64:
      return "aarch64";
    case Arch::ppc64le:
      return "ppc64le";
    case Arch::riscv64:
      return "riscv64";
    case Arch::s390x:
      return "s390x";
  }
  return "";
}

std::string_view render_npu_kind(NpuKind kind) {
  switch (kind) {
    case NpuKind::ascend:
      return "ascend";
    case NpuKind::tpu:
      return "tpu";
    case NpuKind::intel_npu:
      return "intel_npu";
    case NpuKind::qualcomm:
      return "qualcomm";
  }
  return "";
}

}  // namespace axle::detect

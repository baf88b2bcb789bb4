#pragma once
// Machines for the tests of providers: small makers, and a generator of random ones.

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"

namespace axle::providers::testing {

inline detect::Gpu working_gpu(detect::GpuVendor vendor, std::string_view arch) {
  detect::Gpu gpu;
  gpu.vendor = vendor;
  gpu.arch = arch;
  gpu.usable = detect::Presence::present;
  return gpu;
}

inline detect::Driver working_driver(detect::GpuVendor vendor, std::string_view version,
                                     std::string_view api) {
  detect::Driver driver;
  driver.vendor = vendor;
  driver.kernel_version = version;
  driver.api_version = api;
  driver.usable = detect::Presence::present;
  return driver;
}

/// An NVIDIA machine with one GPU per compute capability in `arches`.
inline detect::Machine nvidia_machine(std::string_view cuda,
                                      const std::vector<std::string_view>& arches) {
  detect::Machine machine;
  machine.drivers.push_back(working_driver(detect::GpuVendor::nvidia, "550.54", cuda));
  for (const std::string_view arch : arches) {
    machine.gpus.push_back(working_gpu(detect::GpuVendor::nvidia, arch));
  }
  return machine;
}

/// An x86-64 machine with exactly the capabilities of `level`; everything else is absent.
inline detect::Machine x86_machine(unsigned level) {
  detect::Machine machine;
  machine.cpu.arch = detect::Arch::x86_64;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    machine.cpu.capabilities.set(row.id, detect::Presence::absent);
  }
  for (unsigned below = 1; below <= level; ++below) {
    for (const detect::Capability capability : detect::x86_64_level(below)) {
      machine.cpu.capabilities.set(capability, detect::Presence::present);
    }
  }
  return machine;
}

template <class T>
const T& pick(std::mt19937& random, const std::vector<T>& choices) {
  return choices[random() % choices.size()];
}

inline detect::Presence random_presence(std::mt19937& random) {
  return static_cast<detect::Presence>(random() % 4);
}

inline detect::Npu random_npu(std::mt19937& random) {
  const std::vector<std::string> types{"910b", "310p", "a3", "", "v5e", "Ascend 910"};
  const std::vector<std::string> versions{"24.1.rc3", "8.0.0", "", "8.0.RC1"};
  detect::Npu npu;
  npu.kind = static_cast<detect::NpuKind>(random() % 4);
  npu.type = pick(random, types);
  npu.driver_version = pick(random, versions);
  npu.toolkit_version = pick(random, versions);
  npu.usable = random() % 2 == 0 ? detect::Presence::present : random_presence(random);
  return npu;
}

inline detect::Machine random_machine(std::mt19937& random) {
  using detect::GpuVendor;
  detect::Machine machine;
  machine.cpu.arch = static_cast<detect::Arch>(random() % 6);
  const bool rich = random() % 2 == 0;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    machine.cpu.capabilities.set(
        row.id, rich && random() % 16 != 0 ? detect::Presence::present : random_presence(random));
  }
  const std::vector<std::string> nvidia{"9.0", "7.5", "12.0", "6.1", "3.5", "8.9", "", "x"};
  const std::vector<std::string> amd{"gfx942", "gfx90a", "gfx1100", "gfx1036", "gfx1151", "", "g"};
  const std::vector<std::string> intel{"20.1.0", "12.57.0", "30.5.4", "77.1.2", "", "1.2"};
  const std::vector<std::string> releases{"36.4.3", "38.2", "x", "35"};
  const std::vector<std::optional<unsigned>> lengths{std::nullopt, 16U, 32U, 64U, 48U};
  machine.cpu.sve_vector_bytes = pick(random, lengths);
  machine.cpu.sme_vector_bytes = pick(random, lengths);
  const std::vector<std::string> api{"12.7", "11.0", "15.20", "9.1", "16.0", "6.4", "", "?"};
  for (unsigned i = random() % 5; i-- > 0;) {
    const auto vendor = static_cast<GpuVendor>(random() % 3);
    detect::Gpu gpu = working_gpu(vendor, pick(random, vendor == GpuVendor::nvidia ? nvidia
                                                       : vendor == GpuVendor::amd  ? amd
                                                                                   : intel));
    if (random() % 3 == 0) gpu.usable = random_presence(random);
    gpu.masked = random() % 5 == 0;
    gpu.integrated = random() % 3 == 0;
    machine.gpus.push_back(std::move(gpu));
  }
  for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel}) {
    if (random() % 4 == 0) continue;
    detect::Driver driver = working_driver(vendor, "1", pick(random, api));
    if (random() % 3 == 0) driver.usable = random_presence(random);
    machine.drivers.push_back(std::move(driver));
  }
  if (random() % 3 != 0) machine.os.system = "Linux";
  if (random() % 6 == 0) machine.os.tegra_release = pick(random, releases);
  for (unsigned i = random() % 3; i-- > 0;) machine.npus.push_back(random_npu(random));
  return machine;
}

}  // namespace axle::providers::testing

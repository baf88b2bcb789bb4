#pragma once
// CPUID within its bounds, and the names that it spells out.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "detect/host.h"

namespace axle::detect {

/// Reads leaves once each (a hypervisor traps every one, about 10 us), and never beyond the bounds
/// that CPUID itself states: out of range, Intel answers with the data of the highest leaf.
class CpuidLeaves {
 public:
  explicit CpuidLeaves(Host& host) : host_(host) {}

  /// All zero where there is no such leaf or subleaf.
  const CpuidLeaf& read(std::uint32_t leaf, std::uint32_t subleaf);

  /// "GenuineIntel"
  [[nodiscard]] std::string vendor();
  /// The processor's own name, leaves 0x80000002 to 0x80000004; spaces around it taken off.
  [[nodiscard]] std::string brand();
  /// Family, model and stepping in decimal, "6-143-8"; empty without leaf 1.
  [[nodiscard]] std::string model();
  /// The signature in leaf 0x40000000 ("KVMKVMKVM"), where leaf 1 says that there is a hypervisor;
  /// "VirtualApple" under Rosetta, which translates and says so in place of a vendor.
  [[nodiscard]] std::string hypervisor();

 private:
  const CpuidLeaf& fetch(std::uint32_t leaf, std::uint32_t subleaf);
  bool exists(std::uint32_t leaf, std::uint32_t subleaf);

  Host& host_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidLeaf> seen_;
};

}  // namespace axle::detect

#pragma once
// Reads CPUID within its bounds, and the names that it contains.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "detect/host.h"

namespace axle::detect {

/// Reads each leaf once (a hypervisor traps every read, about 10 us), and never beyond the bounds
/// that CPUID reports: out of range, Intel returns the data of the highest leaf.
class CpuidLeaves {
 public:
  explicit CpuidLeaves(Host& host) : host_(host) {}

  /// All zero if the leaf or subleaf does not exist.
  const CpuidLeaf& read(std::uint32_t leaf, std::uint32_t subleaf);

  /// "GenuineIntel"
  [[nodiscard]] std::string vendor();
  /// The processor's name, leaves 0x80000002 to 0x80000004, without surrounding spaces.
  [[nodiscard]] std::string brand();
  /// Family, model and stepping in decimal, "6-143-8"; empty without leaf 1.
  [[nodiscard]] std::string model();
  /// The signature in leaf 0x40000000 ("KVMKVMKVM") if leaf 1 reports a hypervisor; "VirtualApple"
  /// under Rosetta, which reports itself in place of a vendor.
  [[nodiscard]] std::string hypervisor();

 private:
  const CpuidLeaf& fetch(std::uint32_t leaf, std::uint32_t subleaf);
  bool exists(std::uint32_t leaf, std::uint32_t subleaf);

  Host& host_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidLeaf> seen_;
};

}  // namespace axle::detect

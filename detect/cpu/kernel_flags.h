#pragma once
// What the x86 kernel says about features in the flags of /proc/cpuinfo, where CPUID does not tell:
// it cannot hide CPUID from programs, so a feature with an erratum is still reported there, and
// some features are reported in registers that only the kernel can read.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/host.h"

namespace axle::detect {

class KernelFlags {
 public:
  /// No flags without a complete line of them, and if the kernel is not Linux.
  KernelFlags(Host& host, const SystemName& name);

  [[nodiscard]] bool shows(Capability capability) const;

  /// The capabilities whose names this kernel knows and does not list, whether or not the CPU has
  /// them. Empty without flags.
  [[nodiscard]] std::vector<Capability> withheld() const;

 private:
  std::optional<std::string> flags_;  ///< of the first processor, with a space on either side
  std::string release_;               ///< uname's
};

}  // namespace axle::detect

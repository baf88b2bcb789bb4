#pragma once
// Names of Arm cores by the implementer and part number of their MIDR_EL1, for display only.
// Sources: the cores' technical reference manuals; Linux asm/cputype.h.

#include <string_view>

namespace axle::detect {

/// "Arm Neoverse-N1" for "0x41" and "0xd0c"; only the implementer ("Qualcomm") if the part is
/// unknown; empty if both are.
[[nodiscard]] std::string_view find_arm_core(std::string_view implementer, std::string_view part);

}  // namespace axle::detect

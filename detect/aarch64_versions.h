#pragma once
// The Arm architecture versions: what each makes mandatory, of what a kernel tells of and a
// compiler uses unasked (Arm ARM DDI 0487, A2.1 onward). SB, SSBS, BTI and DIT are not asked for:
// kernels and hypervisors hide them, and no compiler emits them on its own.

#include <array>
#include <span>
#include <string_view>

#include "detect/capability.h"

namespace axle::detect {

struct Aarch64Version {
  std::string_view name;             ///< "8.2a"
  std::span<const Capability> adds;  ///< without those of the versions before
};

namespace aarch64_additions {
using enum Capability;
inline constexpr std::array v8_0{arm_fp, arm_asimd};
inline constexpr std::array v8_1{arm_crc32, arm_atomics, arm_asimdrdm};
inline constexpr std::array v8_2{arm_dcpop};
inline constexpr std::array v8_3{arm_jscvt, arm_fcma, arm_lrcpc, arm_paca, arm_pacg};
inline constexpr std::array v8_4{arm_asimddp, arm_uscat, arm_ilrcpc, arm_flagm};
inline constexpr std::array v8_5{arm_flagm2, arm_frint, arm_dcpodp};
inline constexpr std::array v9_0{arm_sve2};
}  // namespace aarch64_additions

/// Oldest first; each includes all before it (9.0 builds on 8.5).
inline constexpr std::array<Aarch64Version, 7> aarch64_versions{{
    {"8a", aarch64_additions::v8_0},
    {"8.1a", aarch64_additions::v8_1},
    {"8.2a", aarch64_additions::v8_2},
    {"8.3a", aarch64_additions::v8_3},
    {"8.4a", aarch64_additions::v8_4},
    {"8.5a", aarch64_additions::v8_5},
    {"9.0a", aarch64_additions::v9_0},
}};

}  // namespace axle::detect

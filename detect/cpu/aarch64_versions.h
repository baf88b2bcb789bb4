#pragma once
// The Arm architecture versions: the mandatory features of each, as far as a kernel reports them
// and a compiler uses them implicitly (Arm ARM DDI 0487, A2.1 onward).

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "detect/machine.h"

namespace axle::detect {

/// A version of the published provider of namespace `aarch64`, whose chain ends at 9.0a and is kept
/// unchanged. SB, SSBS, BTI and DIT are not required: kernels and hypervisors hide them, and no
/// compiler emits them implicitly.
struct Aarch64Version {
  std::string_view name;             ///< "8.2a"
  std::span<const Capability> adds;  ///< without those of previous versions
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

/// A version of the architecture itself, up to 8.9a and 9.2a: 9.0 is 8.5 with SVE2, and each 9.N
/// includes 8.(N+5).
struct Aarch64Architecture {
  std::string_view name;
  std::string_view builds_on[2];     ///< names of earlier rows; empty: none
  std::span<const Capability> adds;  ///< mandatory, and reported by every kernel that knows it
  /// Also mandatory, but hidden by kernels and hypervisors on cores that have it (pointer
  /// authentication, SSBS, SB, BTI, DIT): the same core would be 8.2 on one system and 8.6 on
  /// another. Code that a compiler emits for the version runs even if the kernel does not report
  /// them.
  std::span<const Capability> soft;
};

/// `strict`: every mandatory feature is reported; `soft`: those of Aarch64Architecture::soft are
/// assumed.
enum class VersionRule : std::uint8_t { soft, strict };

/// Oldest first, each row after the ones that it builds on: 8a to 8.9a, then 9.0a to 9.2a.
[[nodiscard]] std::span<const Aarch64Architecture> aarch64_architectures();

/// Everything that `name` needs, including the versions that it builds on; empty for an unknown
/// name.
[[nodiscard]] std::vector<Capability> aarch64_requirements(std::string_view name, VersionRule rule);

/// The versions that `facts` fulfil, best first: 9.2a to 9.0a, then 8.9a to 8a.
[[nodiscard]] std::vector<std::string_view> held_aarch64_architectures(const CapabilityFacts& facts,
                                                                       VersionRule rule);

}  // namespace axle::detect

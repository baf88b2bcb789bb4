#include "detect/cpu/aarch64_versions.h"

#include <algorithm>

namespace axle::detect {
namespace {

using enum Capability;

constexpr std::array v8_0{arm_fp, arm_asimd};
constexpr std::array v8_1{arm_crc32, arm_atomics, arm_asimdrdm};
constexpr std::array v8_2{arm_dcpop};
constexpr std::array v8_3{arm_jscvt, arm_fcma, arm_lrcpc};
constexpr std::array v8_3_soft{arm_paca, arm_pacg};
constexpr std::array v8_4{arm_asimddp, arm_uscat, arm_ilrcpc, arm_flagm};
constexpr std::array v8_4_soft{arm_dit};
constexpr std::array v8_5{arm_flagm2, arm_frint, arm_dcpodp};
constexpr std::array v8_5_soft{arm_sb, arm_ssbs, arm_bti};
constexpr std::array v8_6{arm_i8mm, arm_bf16};
constexpr std::array v8_7{arm_wfxt, arm_afp};
constexpr std::array v8_8{arm_mops, arm_hbc};
constexpr std::array v8_9{arm_cssc};
constexpr std::array v9_0{arm_sve2};

constexpr std::array<Aarch64Architecture, 13> architectures{{
    {"8a", {"", ""}, v8_0, {}},
    {"8.1a", {"8a", ""}, v8_1, {}},
    {"8.2a", {"8.1a", ""}, v8_2, {}},
    {"8.3a", {"8.2a", ""}, v8_3, v8_3_soft},
    {"8.4a", {"8.3a", ""}, v8_4, v8_4_soft},
    {"8.5a", {"8.4a", ""}, v8_5, v8_5_soft},
    {"8.6a", {"8.5a", ""}, v8_6, {}},
    {"8.7a", {"8.6a", ""}, v8_7, {}},
    {"8.8a", {"8.7a", ""}, v8_8, {}},
    {"8.9a", {"8.8a", ""}, v8_9, {}},
    {"9.0a", {"8.5a", ""}, v9_0, {}},
    {"9.1a", {"9.0a", "8.6a"}, {}, {}},
    {"9.2a", {"9.1a", "8.7a"}, {}, {}},
}};

}  // namespace

std::span<const Aarch64Architecture> aarch64_architectures() { return architectures; }

std::vector<Capability> aarch64_requirements(std::string_view name, VersionRule rule) {
  std::vector<Capability> needed;
  const auto found = std::ranges::find(architectures, name, &Aarch64Architecture::name);
  if (found == architectures.end()) return needed;
  const auto add = [&](Capability capability) {
    if (std::ranges::find(needed, capability) == needed.end()) needed.push_back(capability);
  };
  for (const std::string_view below : found->builds_on) {
    if (below.empty()) continue;
    for (const Capability each : aarch64_requirements(below, rule)) add(each);
  }
  for (const Capability each : found->adds) add(each);
  if (rule == VersionRule::strict) {
    for (const Capability each : found->soft) add(each);
  }
  return needed;
}

std::vector<std::string_view> held_aarch64_architectures(const CapabilityFacts& facts,
                                                         VersionRule rule) {
  std::vector<std::string_view> held;
  for (const Aarch64Architecture& each : architectures) {
    const std::vector<Capability> needed = aarch64_requirements(each.name, rule);
    if (std::ranges::all_of(needed, [&](Capability one) { return facts.has(one); })) {
      held.push_back(each.name);
    }
  }
  std::ranges::reverse(held);
  return held;
}

}  // namespace axle::detect

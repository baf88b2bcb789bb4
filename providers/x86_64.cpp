// Namespace `x86_64`, as x86-64-variant-provider 0.2.1 defines it: the psABI level, then flags. The
// published provider derives the level from the name of the microarchitecture; here the flags
// decide, and a flag only counts if the operating system saves its registers.

#include "providers/cpu_flags.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Arch;
using detect::Capability;
using detect::Machine;

namespace {

constexpr std::string_view ns = "x86_64";
constexpr std::string_view level_feature = "level";

// The published list in its order of preference.
constexpr std::string_view flags[] = {
    "avx_vnni",
    "cppc",
    "ibrs_enhanced",
    "tsc_adjust",
    "flush_l1d",
    "movdir64b",
    "movdiri",
    "avx512_bf16",
    "avx512_bitalg",
    "avx512_vbmi2",
    "avx512_vnni",
    "avx512_vp2intersect",
    "avx512_vpopcntdq",
    "avx512ifma",
    "avx512vbmi",
    "rdpid",
    "sha_ni",
    "vaes",
    "vpclmulqdq",
    "clwb",
    "clzero",
    "avx512bw",
    "avx512cd",
    "avx512dq",
    "avx512f",
    "avx512vl",
    "clflushopt",
    "gfni",
    "rdseed",
    "xsavec",
    "xsaveopt",
    "adx",
    "avx2",
    "avx",
    "bmi2",
    "bmi1",
    "abm",
    "f16c",
    "fma",
    "movbe",
    "xsave",
    "rdrand",
    "aes",
    "pclmulqdq",
    "sse4a",
    "fsgsbase",
    "sse4_2",
    "sse4_1",
    "ssse3",
    "sse3",
    "cx16",
    "lahf_lm",
    "popcnt",
    "sse2",
    "sse",
    "mmx",
};

// The capabilities of `level` and of all lower levels.
std::vector<Capability> needed_for(unsigned level) {
  std::vector<Capability> needed;
  for (unsigned below = 1; below <= level; ++below) {
    const auto own = detect::x86_64_level(below);
    needed.insert(needed.end(), own.begin(), own.end());
  }
  return needed;
}

Feature levels_up_to(unsigned highest) {
  Feature feature{std::string(level_feature), false, {}};
  for (unsigned level = highest; level > 0; --level) {
    feature.values.push_back("v" + std::to_string(level));
  }
  return feature;
}

Features supported(const Machine& machine, const GpuPolicy& /*policy*/) {
  if (machine.cpu.arch != Arch::x86_64) return {};
  Features features = flags_present(machine.cpu, ns, flags);
  if (Feature levels = levels_up_to(detect::highest_x86_64_level(machine.cpu.capabilities));
      !levels.values.empty()) {
    features.insert(features.begin(), std::move(levels));
  }
  return features;
}

Features all() {
  Features features = flags_known(flags);
  features.insert(features.begin(), levels_up_to(detect::last_x86_64_level));
  return features;
}

Facts facts(const Machine& machine, const GpuPolicy& /*policy*/, std::string_view feature,
            std::string_view value) {
  if (feature != level_feature) return {about_flag(machine.cpu, Arch::x86_64, ns, feature, value)};
  if (value.size() != 2 || value[0] != 'v' || value[1] < '1' || value[1] > '4')
    return {unknown_property(ns, feature, value)};
  if (machine.cpu.arch != Arch::x86_64) return {other_architecture(machine.cpu, Arch::x86_64)};
  const auto level = static_cast<unsigned>(value[1] - '0');
  const unsigned highest = detect::highest_x86_64_level(machine.cpu.capabilities);
  if (highest >= level) {
    return {{FactCode::cpu_has,
             "CPU",
             {"level " + std::string(value)},
             {"level v" + std::to_string(highest)}}};
  }
  return {about_capabilities(machine.cpu, needed_for(level)), part_of("level", value)};
}

constexpr std::string_view plugin_apis[] = {"", "x86_64_variant_provider",
                                            "provider_variant_x86_64.plugin:X8664Plugin"};
constexpr std::string_view aliases[] = {"provider-variant-x86-64"};

}  // namespace

Provider x86_64_provider() {
  return {ns, "x86-64-variant-provider", "0.2.1", plugin_apis, aliases, supported, all, facts};
}

}  // namespace axle::providers

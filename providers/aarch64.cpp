// Namespace `aarch64`, as aarch64-variant-provider 0.2.0 defines it: the architecture version, then
// flags. Two strings of the published list, "btiecv" and "asimdrdmatomics", are two flags run
// together that no CPU can report; their parts are in namespace `axle`.

#include <array>

#include "providers/cpu_flags.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Arch;
using detect::Capability;
using detect::Machine;

namespace {

using enum detect::Capability;

constexpr std::string_view ns = "aarch64";
constexpr std::string_view version_feature = "version";

// What each version adds, of the features that it makes mandatory, that a kernel tells of, and that
// a compiler uses unasked (Arm ARM DDI 0487, A2.1 onward). Not asked for: SB, SSBS, BTI and DIT,
// which kernels and hypervisors hide and which no compiler emits on its own.
constexpr std::array v8_0{arm_fp, arm_asimd};
constexpr std::array v8_1{arm_crc32, arm_atomics, arm_asimdrdm};
constexpr std::array v8_2{arm_dcpop};
constexpr std::array v8_3{arm_jscvt, arm_fcma, arm_lrcpc, arm_paca, arm_pacg};
constexpr std::array v8_4{arm_asimddp, arm_uscat, arm_ilrcpc, arm_flagm};
constexpr std::array v8_5{arm_flagm2, arm_frint, arm_dcpodp};
constexpr std::array v9_0{arm_sve2};

struct Version {
  std::string_view value;
  std::span<const Capability> adds;
};

// Oldest first. 9.0 builds on 8.5.
constexpr Version versions[] = {{"8a", v8_0},   {"8.1a", v8_1}, {"8.2a", v8_2}, {"8.3a", v8_3},
                                {"8.4a", v8_4}, {"8.5a", v8_5}, {"9.0a", v9_0}};

// The published list in its order of preference.
constexpr std::string_view flags[] = {
    "sve2",    "flagm2",  "frint",  "sb",      "paca",    "pacg",  "ssbs",    "asimdfhm",
    "bf16",    "dcpodp",  "dgh",    "dit",     "flagm",   "i8mm",  "ilrcpc",  "jscvt",
    "rng",     "sha3",    "sha512", "svebf16", "svei8mm", "uscat", "asimddp", "lrcpc",
    "asimdhp", "dcpop",   "fcma",   "fphp",    "sve",     "aes",   "asimd",   "cpuid",
    "crc32",   "evtstrm", "fp",     "pmull",   "sha1",    "sha2",
};

std::size_t count_versions(const detect::Cpu& cpu) {
  std::size_t count = 0;
  for (const Version& version : versions) {
    for (const Capability capability : version.adds) {
      if (!cpu.capabilities.has(capability)) return count;
    }
    ++count;
  }
  return count;
}

Feature newest_versions(std::size_t count) {
  Feature feature{std::string(version_feature), false, {}};
  for (std::size_t i = count; i-- > 0;) feature.values.emplace_back(versions[i].value);
  return feature;
}

Features supported(const Machine& machine) {
  if (machine.cpu.arch != Arch::aarch64) return {};
  Features features = flags_present(machine.cpu, ns, flags);
  if (Feature versions_held = newest_versions(count_versions(machine.cpu));
      !versions_held.values.empty()) {
    features.insert(features.begin(), std::move(versions_held));
  }
  return features;
}

Features all() {
  Features features = flags_known(flags);
  features.insert(features.begin(), newest_versions(std::size(versions)));
  return features;
}

std::string describe_version(const detect::Cpu& cpu, std::string_view value) {
  std::vector<Capability> needed;
  for (const Version& version : versions) {
    needed.insert(needed.end(), version.adds.begin(), version.adds.end());
    if (version.value != value) continue;
    if (std::string other = describe_other_arch(cpu, Arch::aarch64); !other.empty()) return other;
    const std::size_t held = count_versions(cpu);
    if (held > static_cast<std::size_t>(&version - versions)) {
      return "the CPU is Armv" + std::string(versions[held - 1].value);
    }
    return describe_capabilities(cpu, needed) + " (version " + std::string(value) + ")";
  }
  return describe_unheard(ns, version_feature, value);
}

std::string fact(const Machine& machine, std::string_view feature, std::string_view value) {
  if (feature == version_feature) return describe_version(machine.cpu, value);
  return describe_flag(machine.cpu, Arch::aarch64, ns, feature, value);
}

constexpr std::string_view plugin_apis[] = {"", "aarch64_variant_provider",
                                            "provider_variant_aarch64.plugin:AArch64Plugin"};
constexpr std::string_view aliases[] = {"provider-variant-aarch64"};

}  // namespace

Provider aarch64_provider() {
  return {ns, "aarch64-variant-provider", "0.2.0", plugin_apis, aliases, supported, all, fact};
}

}  // namespace axle::providers

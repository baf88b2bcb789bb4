// Namespace `aarch64`, as aarch64-variant-provider 0.2.0 defines it: the architecture version, then
// flags. Two strings of the published list, "btiecv" and "asimdrdmatomics", are two flags written
// as one, which no CPU can report; their parts are in namespace `axle`.

#include "detect/cpu/aarch64_versions.h"
#include "providers/cpu_flags.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Arch;
using detect::Capability;
using detect::Machine;

namespace {

constexpr std::string_view ns = "aarch64";
constexpr std::string_view version_feature = "version";
constexpr const auto& versions = detect::aarch64_versions;

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
  for (const detect::Aarch64Version& version : versions) {
    for (const Capability capability : version.adds) {
      if (!cpu.capabilities.has(capability)) return count;
    }
    ++count;
  }
  return count;
}

Feature newest_versions(std::size_t count) {
  Feature feature{std::string(version_feature), false, {}};
  for (std::size_t i = count; i-- > 0;) feature.values.emplace_back(versions[i].name);
  return feature;
}

Features supported(const Machine& machine, const GpuPolicy& /*policy*/) {
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

Facts facts_of_version(const detect::Cpu& cpu, std::string_view value) {
  std::vector<Capability> needed;
  for (const detect::Aarch64Version& version : versions) {
    needed.insert(needed.end(), version.adds.begin(), version.adds.end());
    if (version.name != value) continue;
    if (cpu.arch != Arch::aarch64) return {other_architecture(cpu, Arch::aarch64)};
    const std::size_t held = count_versions(cpu);
    if (held > static_cast<std::size_t>(&version - versions.data()))
      return {arm_version_held(versions[held - 1].name, value)};
    return {about_capabilities(cpu, needed), part_of("version", value)};
  }
  return {unknown_property(ns, version_feature, value)};
}

Facts facts(const Machine& machine, const GpuPolicy& /*policy*/, std::string_view feature,
            std::string_view value) {
  if (feature == version_feature) return facts_of_version(machine.cpu, value);
  return {about_flag(machine.cpu, Arch::aarch64, ns, feature, value)};
}

// The older package moved its functions to the module with 0.0.3.
constexpr std::string_view plugin_apis[] = {"", "aarch64_variant_provider",
                                            "provider_variant_aarch64",
                                            "provider_variant_aarch64.plugin:AArch64Plugin"};
constexpr std::string_view aliases[] = {"provider-variant-aarch64"};

}  // namespace

Provider aarch64_provider() {
  return {ns, "aarch64-variant-provider", "0.2.0", plugin_apis, aliases, supported, all, facts};
}

}  // namespace axle::providers

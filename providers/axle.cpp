// Namespace `axle`: what the published providers cannot express. For CPUs (AMX, AVX512-FP16, AVX10,
// SME, LSE …) every row of the capability table whose property is "axle :: X :: on" is a feature;
// there is no list here. Order of preference: x86 rows in the order of the table (tile extensions
// first); rows of other architectures in reverse, since the kernel assigns its bits in the order in
// which extensions appear; then the parts below, one file each.

#include <algorithm>
#include <iterator>

#include "providers/arm_versions.h"
#include "providers/cpu_flags.h"
#include "providers/cuda_code.h"
#include "providers/gfx_code.h"
#include "providers/namespaces.h"
#include "providers/platforms.h"
#include "providers/vector_lengths.h"

namespace axle::providers {

using detect::Arch;
using detect::CapabilityRow;
using detect::Machine;

namespace {

constexpr std::string_view ns = "axle";
constexpr std::string_view prefix = "axle :: ";
constexpr std::string_view suffix = " :: on";

std::string_view feature_of(const CapabilityRow& row) {
  std::string_view name = row.property;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  return name;
}

constexpr Arch architectures[] = {Arch::x86_64, Arch::aarch64, Arch::ppc64le, Arch::riscv64,
                                  Arch::s390x};

std::vector<std::string_view> features_of(Arch arch) {
  std::vector<std::string_view> names;
  for (const CapabilityRow& row : detect::capabilities()) {
    if (row.arch == arch && row.property.starts_with(prefix)) names.push_back(feature_of(row));
  }
  if (arch != Arch::x86_64) std::ranges::reverse(names);
  return names;
}

/// Some features of the namespace and what is known about them.
struct Part {
  bool (*knows)(std::string_view feature);
  Features (*supported)(const Machine& machine, const GpuPolicy& policy);
  Features (*known)();
  Facts (*facts)(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                 std::string_view value);
};

Features arm_versions_of(const Machine& machine, const GpuPolicy& /*policy*/) {
  return supported_arm_versions(machine.cpu);
}

Facts facts_of_arm_version(const Machine& machine, const GpuPolicy& /*policy*/,
                           std::string_view feature, std::string_view value) {
  return arm_version_facts(machine.cpu, ns, feature, value);
}

constexpr Part parts[] = {
    {is_arm_version_feature, arm_versions_of, known_arm_versions, facts_of_arm_version},
    {is_vector_length_feature, supported_vector_lengths, known_vector_lengths, vector_length_facts},
    {is_gpu_code_feature, supported_gpu_code, known_gpu_code, gpu_code_facts},
    {is_gfx_code_feature, supported_gfx_code, known_gfx_code, gfx_code_facts},
    {is_platform_feature, supported_platforms, known_platforms, platform_facts},
};

Features supported(const Machine& machine, const GpuPolicy& policy) {
  Features features = flags_present(machine.cpu, ns, features_of(machine.cpu.arch));
  for (const Part& part : parts) {
    std::ranges::move(part.supported(machine, policy), std::back_inserter(features));
  }
  return features;
}

Features all() {
  Features features;
  for (const Arch arch : architectures) {
    std::ranges::move(flags_known(features_of(arch)), std::back_inserter(features));
  }
  for (const Part& part : parts) std::ranges::move(part.known(), std::back_inserter(features));
  return features;
}

Facts facts(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
            std::string_view value) {
  for (const Part& part : parts) {
    if (part.knows(feature)) return part.facts(machine, policy, feature, value);
  }
  const auto capability = find_row(ns, feature, value);
  if (!capability) return {unknown_property(ns, feature, value)};
  return {about_flag(machine.cpu, detect::row(*capability).arch, ns, feature, value)};
}

constexpr std::string_view plugin_apis[] = {"", "axle_variant_provider"};

}  // namespace

Provider axle_provider() {
  return {ns, "axle-variant-provider", AXLE_VERSION, plugin_apis, {}, supported, all, facts};
}

}  // namespace axle::providers

// Namespace `axle`: what the published providers cannot say. Of GPUs see cuda_code.h. Of CPUs (AMX,
// AVX512-FP16, AVX10, SME, LSE …) every row of the capability table whose property is
// "axle :: X :: on" is a feature; there is no list here. Order of preference: x86 rows as the table
// has them (it puts the tile extensions first), then aarch64 rows backwards, since HWCAP bits are
// given out in the order in which extensions appear, then what is said of GPUs.

#include <algorithm>
#include <iterator>

#include "providers/cpu_flags.h"
#include "providers/cuda_code.h"
#include "providers/namespaces.h"

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

std::vector<std::string_view> features_of(bool x86) {
  std::vector<std::string_view> names;
  for (const CapabilityRow& row : detect::capabilities()) {
    if (row.x86 == x86 && row.property.starts_with(prefix)) names.push_back(feature_of(row));
  }
  if (!x86) std::ranges::reverse(names);
  return names;
}

Features supported(const Machine& machine, const GpuPolicy& policy) {
  Features features;
  if (machine.cpu.arch != Arch::other) {
    features = flags_present(machine.cpu, ns, features_of(machine.cpu.arch == Arch::x86_64));
  }
  std::ranges::move(supported_gpu_code(machine, policy), std::back_inserter(features));
  return features;
}

Features all() {
  Features features = flags_known(features_of(true));
  std::ranges::move(flags_known(features_of(false)), std::back_inserter(features));
  std::ranges::move(known_gpu_code(), std::back_inserter(features));
  return features;
}

std::string fact(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                 std::string_view value) {
  if (is_gpu_code_feature(feature)) return gpu_code_fact(machine, policy, feature, value);
  const auto capability = find_row(ns, feature, value);
  if (!capability) return describe_unheard(ns, feature, value);
  const Arch arch = detect::row(*capability).x86 ? Arch::x86_64 : Arch::aarch64;
  return describe_flag(machine.cpu, arch, ns, feature, value);
}

constexpr std::string_view plugin_apis[] = {"", "axle_variant_provider"};

}  // namespace

Provider axle_provider() {
  return {ns, "axle-variant-provider", AXLE_VERSION, plugin_apis, {}, supported, all, fact};
}

}  // namespace axle::providers

// Namespace `amd`, as amd-variant-provider 0.0.2 defines it: the gfx names of the GPUs and the one
// ROCm version of the system. The published provider drops all GPUs as soon as one of them (an
// integrated GPU next to the cards) is not in its list; here each is considered separately,
// according to the policy.

#include <algorithm>

#include "providers/cpu_flags.h"
#include "providers/gfx_code.h"
#include "providers/gpu_state.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view ns = "amd";
constexpr std::string_view gfx_arch = "gfx_arch";
constexpr std::string_view rocm_version = "rocm_version";

// The published list, then the targets of AMD's own builds that it lacks.
constexpr std::string_view known_gfx[] = {
    "gfx900",  "gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx1030", "gfx1100",
    "gfx1101", "gfx1102", "gfx1200", "gfx1201", "gfx90c",  "gfx950",  "gfx1010",
    "gfx1011", "gfx1012", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035",
    "gfx1036", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
};

std::vector<std::string> gfx_names(const Machine& machine, const GpuPolicy& policy) {
  std::vector<std::string> names;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::amd, policy)) {
    std::string gfx = gfx_name(gpu->arch);
    if (std::ranges::find(names, gfx) == names.end()) names.push_back(std::move(gfx));
  }
  return names;
}

// A GPU only runs code that was compiled for it, so different GPUs have nothing in common.
std::vector<std::string> joined_names(const Machine& machine, const GpuPolicy& policy) {
  std::vector<std::vector<std::string>> lists;
  for (const std::string& gfx : gfx_names(machine, policy)) {
    lists.push_back(gfx.empty() ? std::vector<std::string>() : std::vector{gfx});
  }
  return join_lists(policy, lists);
}

std::string system_rocm(const Machine& machine, const GpuPolicy& policy) {
  const auto version = counted_rocm(machine, policy);
  return version ? std::to_string(version->first) + "." + std::to_string(version->second)
                 : std::string();
}

Features supported(const Machine& machine, const GpuPolicy& policy) {
  Features features;
  if (std::vector<std::string> names = joined_names(machine, policy); !names.empty()) {
    features.push_back({std::string(gfx_arch), true, std::move(names)});
  }
  if (std::string version = system_rocm(machine, policy); !version.empty()) {
    features.push_back({std::string(rocm_version), false, {std::move(version)}});
  }
  return features;
}

Features all() {
  Feature rocm{std::string(rocm_version), false, {}};
  for (unsigned minor = 15; minor-- > 0;) rocm.values.push_back("7." + std::to_string(minor));
  rocm.values.insert(rocm.values.end(), {"6.4", "6.3", "6.2", "6.1", "6.0"});
  return {std::move(rocm),
          {std::string(gfx_arch), true, {std::begin(known_gfx), std::end(known_gfx)}}};
}

Facts facts(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
            std::string_view value) {
  if (feature != gfx_arch && feature != rocm_version) return {unknown_property(ns, feature, value)};
  if (feature == rocm_version) {
    return {about_rocm(machine, policy, FactCode::system_version, std::string(value))};
  }
  if (counted_gpus(machine, GpuVendor::amd, policy).empty())
    return {why_no_gpu(machine, GpuVendor::amd, policy)};
  const std::vector<std::string> names = gfx_names(machine, policy);
  if (names == std::vector<std::string>{""})
    return {{FactCode::value_unknown, "gfx target of the GPU", {std::string(value)}}};
  return what_gpus_are(FactCode::gpu_target, machine, GpuVendor::amd, policy, names,
                       std::string(value));
}

constexpr std::string_view plugin_apis[] = {"amd_variant_provider.plugin:AMDVariantPlugin"};

}  // namespace

Provider amd_provider() {
  return {ns, "amd-variant-provider", "0.0.2", plugin_apis, {}, supported, all, facts};
}

}  // namespace axle::providers

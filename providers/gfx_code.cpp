#include "providers/gfx_code.h"

#include <algorithm>
#include <utility>

#include "providers/cpu_flags.h"
#include "providers/gpu_state.h"

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view gfx_code = "gfx_code";
constexpr std::string_view lower_bound = "rocm_version_lower_bound";

/// Targets and the generic target that each belongs to, newest first. gfx908 and gfx90a belong to
/// none.
struct GfxTarget {
  std::string_view name;
  std::string_view generic;
};

constexpr GfxTarget targets[] = {
    {"gfx1251", "gfx12_5_generic"},
    {"gfx1250", "gfx12_5_generic"},
    {"gfx1201", "gfx12_generic"},
    {"gfx1200", "gfx12_generic"},
    {"gfx1153", "gfx11_generic"},
    {"gfx1152", "gfx11_generic"},
    {"gfx1151", "gfx11_generic"},
    {"gfx1150", "gfx11_generic"},
    {"gfx1103", "gfx11_generic"},
    {"gfx1102", "gfx11_generic"},
    {"gfx1101", "gfx11_generic"},
    {"gfx1100", "gfx11_generic"},
    {"gfx1036", "gfx10_3_generic"},
    {"gfx1035", "gfx10_3_generic"},
    {"gfx1034", "gfx10_3_generic"},
    {"gfx1033", "gfx10_3_generic"},
    {"gfx1032", "gfx10_3_generic"},
    {"gfx1031", "gfx10_3_generic"},
    {"gfx1030", "gfx10_3_generic"},
    {"gfx1013", "gfx10_1_generic"},
    {"gfx1012", "gfx10_1_generic"},
    {"gfx1011", "gfx10_1_generic"},
    {"gfx1010", "gfx10_1_generic"},
    {"gfx950", "gfx9_4_generic"},
    {"gfx942", "gfx9_4_generic"},
    {"gfx90c", "gfx9_generic"},
    {"gfx90a", ""},
    {"gfx909", "gfx9_generic"},
    {"gfx908", ""},
    {"gfx906", "gfx9_generic"},
    {"gfx904", "gfx9_generic"},
    {"gfx902", "gfx9_generic"},
    {"gfx900", "gfx9_generic"},
};

/// ROCm versions that can be requested.
constexpr unsigned first_major = 5;
constexpr unsigned last_major = 12;
constexpr unsigned last_minor = 20;

/// "M.m" … "M.0", "M", then the older major versions with all their minor versions.
std::vector<std::string> versions_up_to(std::pair<unsigned, unsigned> newest) {
  std::vector<std::string> values;
  for (unsigned major = newest.first; major >= first_major; --major) {
    const unsigned top = major == newest.first ? newest.second : last_minor;
    for (unsigned minor = top + 1; minor-- > 0;)
      values.push_back(std::to_string(major) + "." + std::to_string(minor));
    values.push_back(std::to_string(major));
  }
  return values;
}

Facts about_code(const Machine& machine, const GpuPolicy& policy, std::string_view value) {
  std::vector<std::string> archs;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::amd, policy)) {
    const std::string gfx = gfx_name(gpu->arch);
    const std::string_view generic = generic_gfx(gfx);
    archs.push_back(generic.empty() ? gfx : gfx + " (" + std::string(generic) + ")");
  }
  return what_gpus_are(FactCode::gpu_target, machine, GpuVendor::amd, policy, archs,
                       std::string(value));
}

}  // namespace

std::string_view generic_gfx(std::string_view gfx) {
  const auto* found = std::ranges::find(targets, gfx, &GfxTarget::name);
  return found == std::end(targets) ? std::string_view() : found->generic;
}

std::optional<std::pair<unsigned, unsigned>> counted_rocm(const Machine& machine,
                                                          const GpuPolicy& policy) {
  const detect::Driver* driver = detect::find_driver(machine, GpuVendor::amd);
  if (driver == nullptr) return std::nullopt;
  const bool counts = is_forced(*driver) || !counted_gpus(machine, GpuVendor::amd, policy).empty();
  return counts ? parse_major_minor(driver->api_version) : std::nullopt;
}

Fact about_rocm(const Machine& machine, const GpuPolicy& policy, FactCode code,
                std::string needed) {
  const auto rocm = counted_rocm(machine, policy);
  if (rocm) {
    return {code,
            "ROCm",
            {std::move(needed)},
            {std::to_string(rocm->first) + "." + std::to_string(rocm->second)},
            detect::find_driver(machine, GpuVendor::amd)->api_source};
  }
  if (counted_gpus(machine, GpuVendor::amd, policy).empty())
    return why_no_gpu(machine, GpuVendor::amd, policy);
  return {FactCode::value_unknown, "ROCm version of the system", {std::move(needed)}};
}

bool is_gfx_code_feature(std::string_view feature) {
  return feature == gfx_code || feature == lower_bound;
}

Features supported_gfx_code(const Machine& machine, const GpuPolicy& policy) {
  std::vector<std::vector<std::string>> lists;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::amd, policy)) {
    std::vector<std::string>& list = lists.emplace_back();
    std::string gfx = gfx_name(gpu->arch);
    if (gfx.empty()) continue;
    const std::string_view generic = generic_gfx(gfx);
    list.push_back(std::move(gfx));
    if (!generic.empty()) list.emplace_back(generic);
  }
  Features features;
  if (Feature code{std::string(gfx_code), true, join_lists(policy, lists)}; !code.values.empty())
    features.push_back(std::move(code));
  const auto rocm = counted_rocm(machine, policy);
  if (rocm && *rocm >= std::pair(first_major, 0U) && *rocm <= std::pair(last_major, last_minor))
    features.push_back({std::string(lower_bound), false, versions_up_to(*rocm)});
  return features;
}

Features known_gfx_code() {
  Feature code{std::string(gfx_code), true, {}};
  for (const GfxTarget& target : targets) code.values.emplace_back(target.name);
  for (const GfxTarget& target : targets) {
    if (!target.generic.empty() &&
        std::ranges::find(code.values, target.generic) == code.values.end()) {
      code.values.emplace_back(target.generic);
    }
  }
  return {std::move(code),
          {std::string(lower_bound), false, versions_up_to({last_major, last_minor})}};
}

Facts gfx_code_facts(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                     std::string_view value) {
  if (!is_gfx_code_feature(feature)) return {unknown_property("axle", feature, value)};
  if (feature == lower_bound)
    return {about_rocm(machine, policy, FactCode::system_version_bound, std::string(value))};
  if (counted_gpus(machine, GpuVendor::amd, policy).empty())
    return {why_no_gpu(machine, GpuVendor::amd, policy)};
  return about_code(machine, policy, value);
}

}  // namespace axle::providers

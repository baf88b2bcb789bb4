// Namespace `ascend`, as huawei-ascend-variant-provider 0.0.2 defines it: the kinds of NPU, the
// driver and the CANN toolkit, each version one exact value. The published provider gives features
// without a value where it finds nothing, and the same value twice where there are two NPUs of one
// kind: installers refuse both.

#include <algorithm>
#include <array>

#include "providers/cpu_flags.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Machine;
using detect::Npu;
using detect::NpuKind;
using detect::Presence;

namespace {

constexpr std::string_view ns = "ascend";

struct AscendFeature {
  std::string_view name;
  bool multi_value;
  std::string Npu::* fact;
  std::string_view title;
};

constexpr AscendFeature ascend_features[] = {
    {"npu_type", true, &Npu::type, "the NPU is "},
    {"driver_version", false, &Npu::driver_version, "the NPU driver has version "},
    {"cann_version", false, &Npu::toolkit_version, "the system has CANN "},
};

constexpr std::string_view known_types[] = {"a3", "a2", "910b", "310p"};

/// A value of PEP 825: what a driver says may be anything.
bool is_value(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

std::vector<std::string> values_of(const Machine& machine, const AscendFeature& feature) {
  std::vector<std::string> values;
  for (const Npu& npu : machine.npus) {
    if (npu.kind != NpuKind::ascend || npu.usable != Presence::present) continue;
    const std::string& value = npu.*feature.fact;
    if (is_value(value) && std::ranges::find(values, value) == values.end())
      values.push_back(value);
  }
  // The bus decides nothing; a driver has one version, and two are no fact.
  std::ranges::sort(values);
  if (!feature.multi_value && values.size() > 1) values.clear();
  return values;
}

Features supported(const Machine& machine, const GpuPolicy& /*policy*/) {
  Features features;
  for (const AscendFeature& feature : ascend_features) {
    std::vector<std::string> values = values_of(machine, feature);
    if (values.empty()) continue;
    features.push_back({std::string(feature.name), feature.multi_value, std::move(values)});
  }
  return features;
}

/// The published provider knows no values but those of the machine at hand, and no builder can
/// check against that: these are the kinds that it has names for. Others pass through it.
Features all() { return {{"npu_type", true, {std::begin(known_types), std::end(known_types)}}}; }

std::string describe_no_npu(const Machine& machine) {
  for (const Npu& npu : machine.npus) {
    if (npu.kind != NpuKind::ascend) continue;
    if (npu.usable == Presence::unknown) return "it is not known whether the Ascend NPU is usable";
    if (npu.usable != Presence::present) {
      return "Ascend NPU present but not usable: " +
             (npu.reason.empty() ? std::string("the driver does not work") : npu.reason);
    }
  }
  return "no Ascend NPU";
}

std::string fact(const Machine& machine, const GpuPolicy& /*policy*/, std::string_view feature,
                 std::string_view value) {
  const auto* known = std::ranges::find(ascend_features, feature, &AscendFeature::name);
  if (known == std::end(ascend_features)) return describe_unheard(ns, feature, value);
  const bool works = std::ranges::any_of(machine.npus, [](const Npu& npu) {
    return npu.kind == NpuKind::ascend && npu.usable == Presence::present;
  });
  if (!works) return describe_no_npu(machine);
  const std::vector<std::string> values = values_of(machine, *known);
  if (values.empty()) return "it is not known which " + std::string(feature) + " the NPU has";
  std::string text(known->title);
  for (const std::string& each : values) text += (&each == values.data() ? "" : ", ") + each;
  return text + ", the build is for " + std::string(value);
}

constexpr std::string_view plugin_apis[] = {
    "huawei_ascend_variant_provider.plugin:AscendVariantPlugin",
    "ascend_variant_provider.plugin:AscendVariantPlugin"};
constexpr std::string_view aliases[] = {"ascend-variant-provider"};
constexpr std::string_view open_features[] = {"npu_type", "driver_version", "cann_version"};

}  // namespace

Provider ascend_provider() {
  return {.ns = ns,
          .package = "huawei-ascend-variant-provider",
          .version = "0.0.2",
          .plugin_apis = plugin_apis,
          .aliases = aliases,
          .supported = supported,
          .all = all,
          .fact = fact,
          .open_features = open_features};
}

}  // namespace axle::providers

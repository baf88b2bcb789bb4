// Namespace `ascend`, as huawei-ascend-variant-provider 0.0.2 defines it: the kind of NPU, the
// driver and the CANN toolkit, each one exact value. The published provider uses the first NPU's
// kind and the first version that it finds; here values that differ between the NPUs do not count.

#include <algorithm>
#include <utility>

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
  std::string Npu::* fact;
  const char* fact_name;       ///< in Npu::sources
  std::string_view candidate;  ///< how the source of a version writes it; empty: no version
  FactCode code;
  std::string_view title;
};

constexpr AscendFeature ascend_features[] = {
    {"npu_type", &Npu::type, "type", "", FactCode::npu_kind, "NPU"},
    {"driver_version", &Npu::driver_version, "driver_version", "rc", FactCode::driver_version,
     "NPU driver"},
    {"cann_version", &Npu::toolkit_version, "toolkit_version", "RC", FactCode::system_version,
     "CANN"},
};

constexpr std::string_view known_types[] = {"a3", "a2", "910b", "310p"};

/// Whether it is a value of PEP 825: a driver may report anything.
bool is_value(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

std::string_view take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  while (digits.size() > 1 && digits.starts_with('0')) digits.remove_prefix(1);
  return digits;
}

/// "8.0.RC2.alpha001" -> "8.0.rc2", as published: two or three numbers and the release candidate in
/// one spelling, without the rest. Empty if it is not a valid version.
std::string published_version(std::string_view text, std::string_view candidate_mark) {
  std::string version(take_digits(text));
  if (version.empty()) return {};
  for (std::size_t parts = 1; text.starts_with('.'); ++parts) {
    std::string_view rest = text.substr(1);
    const bool candidate = rest.starts_with(candidate_mark);
    if (candidate) rest.remove_prefix(candidate_mark.size());
    if (candidate ? parts < 2 : parts == 3) break;
    const std::string_view number = take_digits(rest);
    if (number.empty()) break;
    version += (candidate ? ".rc" : ".") + std::string(number);
    if (candidate) return version;
    text = rest;
  }
  return version.find('.') == std::string::npos ? std::string() : version;
}

std::string source_of(const Npu& npu, const AscendFeature& feature) {
  const auto source = npu.sources.find(feature.fact_name);
  return source == npu.sources.end() ? std::string() : source->second;
}

std::string value_of(const Npu& npu, const AscendFeature& feature) {
  // As in the published provider: a forced version is not validated.
  const bool forced = source_of(npu, feature) == "override";
  std::string value = npu.*feature.fact;
  if (!feature.candidate.empty() && !forced) value = published_version(value, feature.candidate);
  return is_value(value) ? value : std::string();
}

/// The values of the working NPUs, without duplicates; sorted, since bus order is irrelevant.
std::vector<std::string> values_of(const Machine& machine, const AscendFeature& feature) {
  std::vector<std::string> values;
  for (const Npu& npu : machine.npus) {
    if (npu.kind != NpuKind::ascend || npu.usable != Presence::present) continue;
    std::string value = value_of(npu, feature);
    if (!value.empty() && std::ranges::find(values, value) == values.end())
      values.push_back(std::move(value));
  }
  std::ranges::sort(values);
  return values;
}

Features supported(const Machine& machine, const GpuPolicy& /*policy*/) {
  Features features;
  for (const AscendFeature& feature : ascend_features) {
    std::vector<std::string> values = values_of(machine, feature);
    if (values.size() == 1)
      features.push_back({std::string(feature.name), false, std::move(values)});
  }
  return features;
}

/// The published provider only knows the values of the machine at hand, which no builder can check
/// against: these are the kinds that it has names for. Other values are passed through.
Features all() { return {{"npu_type", false, {std::begin(known_types), std::end(known_types)}}}; }

Fact why_no_npu(const Machine& machine) {
  const std::string title = "Ascend NPU";
  for (const Npu& npu : machine.npus) {
    if (npu.kind != NpuKind::ascend) continue;
    if (npu.usable == Presence::unknown) return {FactCode::device_unknown, title};
    if (npu.usable != Presence::present) {
      return {FactCode::device_unusable,
              title,
              {},
              {npu.reason.empty() ? "the driver does not work" : npu.reason},
              npu.reason_code};
    }
  }
  return {FactCode::no_npu, title};
}

Facts facts(const Machine& machine, const GpuPolicy& /*policy*/, std::string_view feature,
            std::string_view value) {
  const auto* known = std::ranges::find(ascend_features, feature, &AscendFeature::name);
  if (known == std::end(ascend_features)) return {unknown_property(ns, feature, value)};
  const auto works = std::ranges::find_if(machine.npus, [](const Npu& npu) {
    return npu.kind == NpuKind::ascend && npu.usable == Presence::present;
  });
  if (works == machine.npus.end()) return {why_no_npu(machine)};
  const std::string needed(value);
  std::vector<std::string> values = values_of(machine, *known);
  if (values.empty())
    return {{FactCode::value_unknown, std::string(feature) + " of the NPU", {needed}}};
  return {{known->code,
           std::string(known->title),
           {needed},
           std::move(values),
           source_of(*works, *known)}};
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
          .facts = facts,
          .open_features = open_features};
}

}  // namespace axle::providers

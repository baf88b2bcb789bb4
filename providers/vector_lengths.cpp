#include "providers/vector_lengths.h"

#include <algorithm>
#include <span>

#include "providers/cpu_flags.h"

namespace axle::providers {

using detect::Arch;
using detect::Capability;
using detect::Machine;

namespace {

constexpr std::string_view ns = "axle";

/// A feature whose values are rows of the capability table, best first.
struct FlagValue {
  std::string_view value;
  Capability capability;
};

constexpr FlagValue avx10_versions[] = {{"2", Capability::avx10_2}, {"1", Capability::avx10_1}};
constexpr FlagValue avx10_lengths[] = {
    {"512", Capability::avx10_512}, {"256", Capability::avx10_256}, {"128", Capability::avx10_128}};

struct FlagFeature {
  std::string_view name;
  std::span<const FlagValue> values;
};

constexpr FlagFeature flag_features[] = {{"avx10_version", avx10_versions},
                                         {"avx10_bits", avx10_lengths}};

/// The lengths that SVE and SME can have: powers of two (Arm ARM DDI 0487, "SVE vector length").
constexpr unsigned lengths[] = {256, 128, 64, 32, 16};

struct LengthFeature {
  std::string_view name;
  Capability capability;
  std::optional<unsigned> detect::Cpu::* bytes;
  bool lower_bound;
  std::string_view title;
};

constexpr LengthFeature length_features[] = {
    {"sve_bytes", Capability::arm_sve, &detect::Cpu::sve_vector_bytes, false, "SVE vectors"},
    {"sve_bytes_lower_bound", Capability::arm_sve, &detect::Cpu::sve_vector_bytes, true,
     "SVE vectors"},
    {"sme_bytes", Capability::arm_sme, &detect::Cpu::sme_vector_bytes, false, "streaming vectors"},
    {"sme_bytes_lower_bound", Capability::arm_sme, &detect::Cpu::sme_vector_bytes, true,
     "streaming vectors"},
};

/// The length set for the process; 0 if there is none or it is unknown.
unsigned length_of(const detect::Cpu& cpu, const LengthFeature& feature) {
  const bool has = cpu.arch == Arch::aarch64 && cpu.capabilities.has(feature.capability);
  return has ? (cpu.*feature.bytes).value_or(0) : 0;
}

std::vector<std::string> supported_lengths(const detect::Cpu& cpu, const LengthFeature& feature) {
  std::vector<std::string> values;
  const unsigned here = length_of(cpu, feature);
  for (const unsigned length : lengths) {
    if (feature.lower_bound ? length <= here : length == here)
      values.push_back(std::to_string(length));
  }
  return values;
}

Fact about_length(const detect::Cpu& cpu, const LengthFeature& feature, std::string_view value) {
  if (cpu.arch != Arch::aarch64) return other_architecture(cpu, Arch::aarch64);
  if (!cpu.capabilities.has(feature.capability))
    return about_capabilities(cpu, std::span(&feature.capability, 1));
  const unsigned here = length_of(cpu, feature);
  const std::string title(feature.title);
  const std::string needed = (feature.lower_bound ? "at least " : "exactly ") + std::string(value);
  if (here == 0) return {FactCode::value_unknown, "length of the " + title, {needed}};
  return {FactCode::vector_length, title, {needed}, {std::to_string(here)}};
}

}  // namespace

bool is_vector_length_feature(std::string_view feature) {
  return std::ranges::find(flag_features, feature, &FlagFeature::name) != std::end(flag_features) ||
         std::ranges::find(length_features, feature, &LengthFeature::name) !=
             std::end(length_features);
}

Features supported_vector_lengths(const Machine& machine, const GpuPolicy& /*policy*/) {
  Features features;
  const auto add = [&](std::string_view name, std::vector<std::string> values) {
    if (!values.empty()) features.push_back({std::string(name), false, std::move(values)});
  };
  for (const FlagFeature& feature : flag_features) {
    std::vector<std::string> values;
    for (const FlagValue& value : feature.values) {
      if (machine.cpu.arch == Arch::x86_64 && machine.cpu.capabilities.has(value.capability))
        values.emplace_back(value.value);
    }
    add(feature.name, std::move(values));
  }
  for (const LengthFeature& feature : length_features)
    add(feature.name, supported_lengths(machine.cpu, feature));
  return features;
}

Features known_vector_lengths() {
  Features features;
  for (const FlagFeature& feature : flag_features) {
    Feature& known = features.emplace_back(std::string(feature.name));
    for (const FlagValue& value : feature.values) known.values.emplace_back(value.value);
  }
  for (const LengthFeature& feature : length_features) {
    Feature& known = features.emplace_back(std::string(feature.name));
    for (const unsigned length : lengths) known.values.push_back(std::to_string(length));
  }
  return features;
}

Facts vector_length_facts(const Machine& machine, const GpuPolicy& /*policy*/,
                          std::string_view feature, std::string_view value) {
  for (const FlagFeature& flags : flag_features) {
    if (flags.name != feature) continue;
    const auto* known = std::ranges::find(flags.values, value, &FlagValue::value).base();
    if (known == flags.values.data() + flags.values.size())
      return {unknown_property(ns, feature, value)};
    if (machine.cpu.arch != Arch::x86_64) return {other_architecture(machine.cpu, Arch::x86_64)};
    return {about_capabilities(machine.cpu, std::span(&known->capability, 1))};
  }
  for (const LengthFeature& length : length_features) {
    if (length.name == feature) return {about_length(machine.cpu, length, value)};
  }
  return {unknown_property(ns, feature, value)};
}

}  // namespace axle::providers

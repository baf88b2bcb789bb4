#include "providers/arm_versions.h"

#include "detect/cpu/aarch64_versions.h"
#include "providers/cpu_flags.h"

namespace axle::providers {

using detect::VersionRule;

namespace {

struct VersionFeature {
  std::string_view name;
  VersionRule rule;
};

constexpr VersionFeature version_features[] = {{"arm_version", VersionRule::soft},
                                               {"arm_version_strict", VersionRule::strict}};

const VersionFeature* find_feature(std::string_view name) {
  for (const VersionFeature& feature : version_features) {
    if (feature.name == name) return &feature;
  }
  return nullptr;
}

}  // namespace

bool is_arm_version_feature(std::string_view feature) { return find_feature(feature) != nullptr; }

Features supported_arm_versions(const detect::Cpu& cpu) {
  Features features;
  if (cpu.arch != detect::Arch::aarch64) return features;
  for (const auto& [name, rule] : version_features) {
    const auto held = detect::held_aarch64_architectures(cpu.capabilities, rule);
    if (!held.empty()) features.push_back({std::string(name), false, {held.begin(), held.end()}});
  }
  return features;
}

Features known_arm_versions() {
  Features features;
  for (const auto& [name, rule] : version_features) {
    Feature feature{std::string(name), false, {}};
    for (const auto& version : detect::aarch64_architectures()) {
      feature.values.insert(feature.values.begin(), std::string(version.name));
    }
    features.push_back(std::move(feature));
  }
  return features;
}

Facts arm_version_facts(const detect::Cpu& cpu, std::string_view ns, std::string_view feature,
                        std::string_view value) {
  const VersionFeature* const known = find_feature(feature);
  if (known == nullptr) return {unknown_property(ns, feature, value)};
  const auto needed = detect::aarch64_requirements(value, known->rule);
  if (needed.empty()) return {unknown_property(ns, feature, value)};
  if (cpu.arch != detect::Arch::aarch64) return {other_architecture(cpu, detect::Arch::aarch64)};
  const auto held = detect::held_aarch64_architectures(cpu.capabilities, known->rule);
  for (const std::string_view version : held) {
    if (version == value) return {arm_version_held(held.front(), value)};
  }
  return {about_capabilities(cpu, needed), part_of("version", value)};
}

}  // namespace axle::providers

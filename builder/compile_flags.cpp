#include "builder/compile_flags.h"

#include <algorithm>

#include <fmt/format.h>

#include "detect/capability.h"

namespace axle::builder {

namespace {

using wheel::Property;

// "8.2a" -> "armv8.2-a", "9.0a" -> "armv9-a"
std::string arm_architecture(std::string_view version) {
  if (version.ends_with('a')) version.remove_suffix(1);
  if (version.ends_with(".0")) version.remove_suffix(2);
  return fmt::format("armv{}-a", version);
}

// GCC's release notes, "AArch64", of 13 and 14; earlier versions are older than the supported ones.
unsigned first_gcc_of(std::string_view version) {
  if (version == "8.9a") return 14;
  return version == "9.1a" || version == "9.2a" ? 13 : 0;
}

bool is_level(const Property& property) {
  return property.ns == "x86_64" && property.feature == "level";
}

bool is_version(const Property& property) {
  if (property.ns == "aarch64") return property.feature == "version";
  return property.ns == "axle" &&
         (property.feature == "arm_version" || property.feature == "arm_version_strict");
}

CompileFlag level_flag(const Property& property) {
  const std::string march =
      property.value == "v1" ? "x86-64" : fmt::format("x86-64-{}", property.value);
  return {"-march=" + march, wheel::render_property(property), 0};
}

// The flags of one architecture's single features, in the order of the capability table.
std::vector<CompileFlag> feature_flags(const wheel::VariantProperties& properties,
                                       detect::Arch arch) {
  std::vector<CompileFlag> flags;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch != arch || row.gcc_flag.empty() || row.property.empty()) continue;
    const bool wanted = std::ranges::any_of(properties, [&](const Property& property) {
      return wheel::render_property(property) == row.property;
    });
    if (!wanted) continue;
    flags.push_back({std::string(row.gcc_flag), std::string(row.property), row.first_gcc});
  }
  return flags;
}

// GCC has one -march for all of aarch64: the version, then a suffix per feature.
void add_arm_flags(const wheel::VariantProperties& properties, std::vector<CompileFlag>& flags) {
  CompileFlag march;
  for (const Property& property : properties) {
    if (!is_version(property)) continue;
    march.flag = "-march=" + arm_architecture(property.value);
    march.property = wheel::render_property(property);
    march.first_gcc = first_gcc_of(property.value);
  }
  for (const CompileFlag& suffix : feature_flags(properties, detect::Arch::aarch64)) {
    if (march.flag.empty()) march.flag = "-march=armv8-a";
    if (march.flag.find(suffix.flag + "+") != std::string::npos ||
        march.flag.ends_with(suffix.flag)) {
      continue;
    }
    march.flag += suffix.flag;
    march.property += (march.property.empty() ? "" : ", ") + suffix.property;
    march.first_gcc = std::max(march.first_gcc, suffix.first_gcc);
  }
  if (!march.flag.empty()) flags.push_back(std::move(march));
}

}  // namespace

std::vector<CompileFlag> compile_flags(const wheel::VariantProperties& properties) {
  std::vector<CompileFlag> flags;
  for (const Property& property : properties) {
    if (is_level(property)) flags.push_back(level_flag(property));
  }
  // Of several -march= or -mcpu= the compiler uses the last, which is the newest in the table.
  for (const auto arch : {detect::Arch::x86_64, detect::Arch::ppc64le, detect::Arch::s390x}) {
    for (CompileFlag& flag : feature_flags(properties, arch)) flags.push_back(std::move(flag));
  }
  add_arm_flags(properties, flags);
  return flags;
}

std::optional<CompileFlag> tune_flag(const wheel::VariantProperties& properties) {
  // Intel SDM vol. 1, 18: tiles came with Sapphire Rapids, and no other vendor has them.
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.os_state != detect::OsState::tile || row.property.empty()) continue;
    for (const Property& property : properties) {
      if (wheel::render_property(property) == row.property)
        return CompileFlag{"-mtune=sapphirerapids", std::string(row.property), 12};
    }
  }
  return std::nullopt;
}

std::string join_flags(const std::vector<CompileFlag>& flags) {
  std::string text;
  for (const CompileFlag& flag : flags) text += (text.empty() ? "" : " ") + flag.flag;
  return text;
}

}  // namespace axle::builder

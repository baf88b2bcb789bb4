#include "resolver/family/families.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "resolver/catalogue/version_filter.h"
#include "resolver/family/gpu_platform.h"

namespace axle::resolver {

std::string builds_platform(const Target& target) {
  const auto value = [&](const char* name) {
    const auto found = target.markers.strings.find(name);
    return found == target.markers.strings.end() ? std::string() : found->second;
  };
  const std::string system = value("sys_platform");
  // As the platform tags of such an interpreter begin and end.
  const std::string tag = system == "win32" ? "win_" : system == "darwin" ? "macosx_" : "linux_";
  return index::family_platform(tag + text::ascii_lower(value("platform_machine")));
}

const plan::InstalledPackage* Families::installed(std::string_view name) const {
  const auto found = std::ranges::find(installed_, name, &plan::InstalledPackage::name);
  return found == installed_.end() ? nullptr : &*found;
}

std::set<std::string> Families::installed_names() const {
  std::set<std::string> names;
  for (const plan::InstalledPackage& package : installed_) names.insert(package.name);
  return names;
}

const index::Family* Families::of(std::string_view name) const {
  const auto family = candidates_.family_of(name);
  return family && *family != nullptr && (*family)->has_member(name) && (*family)->shares_labels()
             ? *family
             : nullptr;
}

std::string Families::installed_label(const plan::InstalledPackage& package) const {
  if (package.variant) return *package.variant;
  const index::Family* family = of(package.name);
  if (family == nullptr) return {};
  return plain_label(*family, package.name, package.version);
}

std::string Families::installed_backend(const index::Family& family) const {
  for (const std::string& member : family.members) {
    const plan::InstalledPackage* there = installed(member);
    if (there != nullptr) return installed_label(*there);
  }
  return {};
}

std::string Families::known_local(const index::Family& family,
                                  const wheel::Version& version) const {
  std::string local = index::local_label(version);
  return family.label(local) != nullptr ? local : std::string();
}

std::string Families::plain_label(const index::Family& family, std::string_view member,
                                  const wheel::Version& version) const {
  if (!index::local_label(version).empty()) return known_local(family, version);
  const index::FamilyRelease* release = index::find_release(family, member, version);
  if (release == nullptr) return {};
  const auto label = release->default_index.find(builds_platform(target_));
  return label == release->default_index.end() ? std::string() : label->second;
}

std::string Families::given_label(const index::Family& family, std::string_view member,
                                  const std::vector<const Want*>& wants) const {
  const auto pinned = options_.pinned_variants.find(member);
  if (pinned != options_.pinned_variants.end()) return pinned->second;
  const auto forced = options_.forced_labels.find(family.name);
  if (forced != options_.forced_labels.end()) return forced->second;
  return version_filter(wants).pinned_local();
}

wheel::Version Families::release_of(const plan::InstalledPackage& package) {
  return of(package.name) == nullptr ? package.version : package.version.public_version();
}

std::vector<wheel::Requirement> Families::goes_with(std::string_view name,
                                                    const wheel::Version& version) {
  std::vector<wheel::Requirement> requirements;
  const index::Family* family = of(name);
  if (family == nullptr || name != family->anchor()) return requirements;
  const index::FamilyRelease* release = index::find_release(*family, name, version);
  if (release == nullptr) return requirements;
  for (const auto& [member, specifiers] : release->goes_with) {
    wheel::Requirement requirement;
    requirement.name = member;
    requirement.specifiers = specifiers;
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

std::string Families::installed_platform(const plan::InstalledPackage& package) const {
  const index::Family* family = of(package.name);
  const index::FamilyLabel* label =
      family == nullptr ? nullptr : family->label(installed_label(package));
  std::string platform = gpu_platform(package.name, package.version, label);
  if (!platform.empty() || label != nullptr) return platform;
  for (const wheel::Requirement& requirement : package.dependencies) {
    platform = gpu_platform_of_name(wheel::normalize_name(requirement.name));
    if (platform.empty()) continue;
    if (!requirement.marker || requirement.marker->evaluate(target_.markers, "")) return platform;
  }
  return {};
}

bool Families::has_device_for(const index::Family& family) const {
  return std::ranges::any_of(target_.machine->gpus, [&](const detect::Gpu& gpu) {
    const std::string_view vendor = detect::render_vendor(gpu.vendor);
    return gpu.usable == detect::Presence::present && !gpu.masked &&
           std::ranges::find(family.labels, vendor, &index::FamilyLabel::vendor) !=
               family.labels.end();
  });
}

bool Families::is_built_for(const plan::InstalledPackage& package, std::string_view vendor) {
  const index::Family* family = of(package.name);
  const index::FamilyLabel* label =
      family == nullptr ? nullptr : family->label(installed_label(package));
  return label != nullptr && label->vendor == vendor;
}

std::optional<BuiltFor> Families::built_for(std::string_view name, const wheel::Version& version,
                                            const std::vector<wheel::Requirement>& requirements,
                                            std::string_view label) {
  if (version.local.empty() && !label.empty()) {
    const auto labelled =
        wheel::parse_version(fmt::format("{}+{}", wheel::render_version(version), label));
    return labelled ? built_for(name, *labelled, requirements) : std::nullopt;
  }
  if (version.local.empty() || name == torch_package) return std::nullopt;
  const index::Family* family = of(name);
  if (family != nullptr && family->has_member(torch_package)) return std::nullopt;
  auto built = parse_built_for(version);
  if (!built || built->says_torch()) return built;
  const bool asks = std::ranges::any_of(requirements, [](const wheel::Requirement& requirement) {
    return wheel::normalize_name(requirement.name) == torch_package;
  });
  return asks ? built : std::nullopt;
}

bool Families::suits(const BuiltFor& built, const wheel::Version& version, std::string_view label) {
  if (!built.versions().contains(version)) return false;
  const index::Family* family = of(torch_package);
  const index::FamilyLabel* known = family == nullptr ? nullptr : family->label(label);
  if (known == nullptr) return true;
  if (!is_backend_of(built, *known)) return false;
  const index::FamilyRelease* release = index::find_release(*family, torch_package, version);
  if (!built.cxx11_abi || release == nullptr) return true;
  const auto old = release->old_cxx_abi.find(builds_platform(target_));
  if (old == release->old_cxx_abi.end()) return true;
  const bool is_old = std::ranges::find(old->second, label) != old->second.end();
  return is_old != *built.cxx11_abi;
}

}  // namespace axle::resolver

#include "resolver/family/families.h"

#include <algorithm>
#include <utility>

#include "resolver/catalogue/version_filter.h"

namespace axle::resolver {

std::string builds_platform(const Target& target) {
  const auto architecture = target.markers.strings.find("platform_machine");
  return architecture == target.markers.strings.end()
             ? std::string()
             : index::family_platform("linux_" + architecture->second);
}

const plan::InstalledPackage* Families::installed(std::string_view name) const {
  const auto found = std::ranges::find(installed_, name, &plan::InstalledPackage::name);
  return found == installed_.end() ? nullptr : &*found;
}

const index::Family* Families::of(std::string_view name) {
  const auto family = candidates_.family_of(name);
  return family && *family != nullptr && (*family)->has_member(name) ? *family : nullptr;
}

std::string Families::installed_label(const plan::InstalledPackage& package) {
  if (package.variant) return *package.variant;
  const index::Family* family = of(package.name);
  if (family == nullptr) return {};
  return plain_label(*family, package.name, package.version);
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
  return version_filter(wants, false).pinned_local();
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

std::string Families::cuda_of(std::string_view name, const std::string& label) {
  const index::Family* family = of(name);
  const index::FamilyLabel* known = family == nullptr ? nullptr : family->label(label);
  if (known == nullptr) return {};
  if (known->vendor != "nvidia") return "none";
  return known->toolkit.substr(0, known->toolkit.find('.'));
}

}  // namespace axle::resolver

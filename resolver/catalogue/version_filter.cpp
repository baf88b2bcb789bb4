#include "resolver/catalogue/version_filter.h"

#include <algorithm>

namespace axle::resolver {

VersionFilter version_filter(const std::vector<const Want*>& wants, Prereleases prereleases) {
  VersionFilter filter;
  filter.prereleases = prereleases;
  for (const Want* want : wants) filter.specifiers.push_back(&want->requirement.specifiers);
  return filter;
}

bool VersionFilter::contains(const wheel::Version& version) const {
  return std::ranges::all_of(specifiers, [&](const auto* set) { return set->contains(version); });
}

bool VersionFilter::contains(const Release& release) const {
  return contains(release.version) ||
         std::ranges::any_of(release.local_versions,
                             [&](const wheel::Version& version) { return contains(version); });
}

std::string VersionFilter::pinned_local() const {
  for (const wheel::SpecifierSet* set : specifiers) {
    for (const wheel::Specifier& specifier : set->specifiers) {
      if (specifier.comparison == wheel::Comparison::equal && !specifier.wildcard &&
          !specifier.version.local.empty()) {
        return index::local_label(specifier.version);
      }
    }
  }
  return {};
}

bool VersionFilter::admits_prereleases() const {
  if (prereleases == Prereleases::allow) return true;
  return count_if_named(prereleases) &&
         std::ranges::any_of(
             specifiers, [](const wheel::SpecifierSet* set) { return set->admits_prereleases(); });
}

bool VersionFilter::pins(const wheel::Version& version) const {
  for (const wheel::SpecifierSet* set : specifiers) {
    for (const wheel::Specifier& specifier : set->specifiers) {
      const bool exact = specifier.comparison == wheel::Comparison::arbitrary ||
                         (specifier.comparison == wheel::Comparison::equal && !specifier.wildcard);
      if (exact && specifier.contains(version)) return true;
    }
  }
  return false;
}

}  // namespace axle::resolver

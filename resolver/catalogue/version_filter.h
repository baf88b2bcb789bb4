#pragma once
// Which versions may come.

#include <string>
#include <vector>

#include "resolver/catalogue/release.h"
#include "resolver/request/prereleases.h"
#include "resolver/request/want.h"
#include "wheel/hash/listed_hash.h"
#include "wheel/specifier.h"
#include "wheel/version.h"

namespace axle::resolver {

/// What a package must satisfy, from everybody who wants it.
struct VersionFilter {
  std::vector<const wheel::SpecifierSet*> specifiers;
  Prereleases prereleases = Prereleases::if_necessary_or_explicit;
  std::vector<wheel::ListedHash> listed = {};  ///< hashes of which a file must have one; empty: any

  [[nodiscard]] bool contains(const wheel::Version& version) const;
  [[nodiscard]] bool admits_prereleases() const;
  /// The release, or one of the local versions that it consists of.
  [[nodiscard]] bool contains(const Release& release) const;
  /// Some clause is `== version` or `=== version`: what PEP 592 asks for before a yanked file is
  /// used.
  [[nodiscard]] bool pins(const wheel::Version& version) const;
  /// The local version of a clause `== 2.8.0+cu128`, normalised; empty when there is none.
  [[nodiscard]] std::string pinned_local() const;
};

/// What all `wants` want of a version.
[[nodiscard]] VersionFilter version_filter(
    const std::vector<const Want*>& wants,
    Prereleases prereleases = Prereleases::if_necessary_or_explicit);

}  // namespace axle::resolver

#pragma once
// What the solver can choose of one package, as numbers: every build of every release, and what is
// installed. The order is that of versions, and within a release that of its builds, so that a
// range of versions is an interval and the next number down is the next best build of the same
// version.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "plan/installed_package.h"
#include "resolver/catalogue/release.h"
#include "resolver/choice/build_option.h"
#include "resolver/solver/incompatibility.h"
#include "wheel/specifier.h"

namespace axle::resolver {

/// The numbers of one release: `first` to `last - 1`. It may have fewer builds than numbers; the
/// best has the highest.
struct NumberedRelease {
  Release* release = nullptr;
  Candidate first = 0;
  Candidate last = 0;

  [[nodiscard]] IntegerSet numbers() const { return IntegerSet::from_to(first, last); }
  [[nodiscard]] Candidate number(std::size_t rank) const {
    return last - 1 - static_cast<Candidate>(rank);
  }
};

class CandidateList {
 public:
  /// `best_first`: releases in the order in which they are tried. `installed`: nullptr where what
  /// is installed is not a candidate; of a family's member `installed_release` is its version
  /// without the label.
  CandidateList(std::vector<Release*> best_first, const plan::InstalledPackage* installed,
                const wheel::Version& installed_release);

  [[nodiscard]] const std::vector<NumberedRelease>& releases() const { return releases_; }
  /// not_chosen: what is installed is not a candidate.
  [[nodiscard]] Candidate installed() const { return installed_; }
  [[nodiscard]] const plan::InstalledPackage* installed_package() const {
    return installed_package_;
  }
  /// The release that `candidate` is a build of; nullptr: it is what is installed.
  [[nodiscard]] const NumberedRelease* release_of(Candidate candidate) const;
  /// Of the release or of what is installed.
  [[nodiscard]] const wheel::Version& version_of(Candidate candidate) const;
  [[nodiscard]] IntegerSet all() const { return IntegerSet::from_to(1, end_); }

  /// The releases of which some number is in `values`, ascending.
  [[nodiscard]] std::vector<const NumberedRelease*> releases_in(const IntegerSet& values) const;

  /// Those whose release, or one of the local versions that it consists of, is in `specifiers`.
  /// Pre-releases and yanked files count like any other. The same specifiers are looked at once.
  [[nodiscard]] const IntegerSet& matching(const wheel::SpecifierSet& specifiers) const;
  /// Those of pre-releases.
  [[nodiscard]] const IntegerSet& early() const;
  /// Those of releases of which every file is yanked.
  [[nodiscard]] const IntegerSet& yanked() const { return yanked_; }
  /// Those of the releases that `accept` accepts; what is installed is not among them.
  [[nodiscard]] IntegerSet where(const std::function<bool(const Release&)>& accept) const;

 private:
  [[nodiscard]] IntegerSet find_matching(const wheel::SpecifierSet& specifiers) const;

  std::vector<NumberedRelease> releases_;  ///< ascending
  const plan::InstalledPackage* installed_package_ = nullptr;
  Candidate installed_ = not_chosen;
  Candidate end_ = 1;
  IntegerSet yanked_;
  // What was found out, so that it is found out once.
  mutable std::unordered_map<std::string, IntegerSet> matching_;  ///< by the specifiers' text
  mutable std::optional<IntegerSet> early_;
};

/// Lists that several searches have in common: by package, what is installed of it (nullptr: that
/// is not a candidate), and whether its releases are.
using CandidateLists = std::map<std::tuple<std::string, const plan::InstalledPackage*, bool>,
                                std::shared_ptr<const CandidateList>>;

}  // namespace axle::resolver

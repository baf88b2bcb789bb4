#include "resolver/solver/candidate_list.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace axle::resolver {
namespace {

/// As many builds as a release can have at most, without parsing the names of its wheels: one plain
/// wheel, and one of each file that may have a label.
Candidate most_builds(const index::ReleaseSummary& release) { return 1 + release.maybe_labelled; }

}  // namespace

CandidateList::CandidateList(std::vector<Release*> best_first,
                             const plan::InstalledPackage* installed,
                             const wheel::Version& installed_release)
    : installed_package_(installed) {
  const auto number_installed = [&] {
    if (installed != nullptr && installed_ == not_chosen) installed_ = end_++;
  };
  releases_.reserve(best_first.size());
  IntegerSet::Builder yanked;
  for (Release* release : std::views::reverse(best_first)) {
    if (installed != nullptr && release->version > installed_release) number_installed();
    const index::ReleaseSummary summary = release->summary();
    NumberedRelease& numbered = releases_.emplace_back(release, end_, end_ + most_builds(summary));
    end_ = numbered.last;
    if (summary.all_yanked) yanked.add(numbered.first, numbered.last);
  }
  number_installed();
  yanked_ = std::move(yanked).build();
}

const NumberedRelease* CandidateList::release_of(Candidate candidate) const {
  const auto found = std::ranges::upper_bound(releases_, candidate, {}, &NumberedRelease::last);
  return found != releases_.end() && found->first <= candidate ? &*found : nullptr;
}

const wheel::Version& CandidateList::version_of(Candidate candidate) const {
  const NumberedRelease* numbered = release_of(candidate);
  return numbered == nullptr ? installed_package_->version : numbered->release->version;
}

std::vector<const NumberedRelease*> CandidateList::releases_in(const IntegerSet& values) const {
  std::vector<const NumberedRelease*> found;
  const auto& boundaries = values.boundaries();
  auto release = releases_.begin();
  for (std::size_t i = 0; i < boundaries.size() && release != releases_.end(); i += 2) {
    const Candidate end = i + 1 < boundaries.size() ? boundaries[i + 1] : end_;
    release = std::ranges::upper_bound(release, releases_.end(), boundaries[i], {},
                                       &NumberedRelease::last);
    for (; release != releases_.end() && release->first < end; ++release) {
      if (found.empty() || found.back() != &*release) found.push_back(&*release);
      if (release->last > end) break;
    }
  }
  return found;
}

const IntegerSet& CandidateList::matching(const wheel::SpecifierSet& specifiers) const {
  const auto [known, is_new] = matching_.try_emplace(wheel::render_specifiers(specifiers));
  if (is_new) known->second = find_matching(specifiers);
  return known->second;
}

const IntegerSet& CandidateList::early() const {
  if (!early_)
    early_ = where([](const Release& release) { return release.version.is_prerelease(); });
  return *early_;
}

IntegerSet CandidateList::find_matching(const wheel::SpecifierSet& specifiers) const {
  IntegerSet::Builder set;
  bool installed_done = installed_ == not_chosen;
  const auto add_installed = [&] {
    installed_done = true;
    if (specifiers.contains(installed_package_->version)) set.add(installed_, installed_ + 1);
  };
  for (const NumberedRelease& numbered : releases_) {
    if (!installed_done && installed_ < numbered.first) add_installed();
    const Release& release = *numbered.release;
    const bool is_in = specifiers.contains(release.version) ||
                       std::ranges::any_of(release.local_versions, [&](const auto& version) {
                         return specifiers.contains(version);
                       });
    if (is_in) set.add(numbered.first, numbered.last);
  }
  if (!installed_done) add_installed();
  return std::move(set).build();
}

IntegerSet CandidateList::where(const std::function<bool(const Release&)>& accept) const {
  IntegerSet::Builder set;
  for (const NumberedRelease& numbered : releases_) {
    if (accept(*numbered.release)) set.add(numbered.first, numbered.last);
  }
  return std::move(set).build();
}

}  // namespace axle::resolver

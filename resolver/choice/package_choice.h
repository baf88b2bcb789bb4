#pragma once
// One package: which version, which wheel. It goes back to older versions when the newest has bad
// metadata or no wheel that fits; what is installed and satisfies everybody is kept.

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/report.h"
#include "plan/installed_package.h"
#include "plan/resolution.h"
#include "resolver/catalogue/candidates.h"
#include "resolver/choice/release_choice.h"
#include "resolver/explain/explanation.h"
#include "resolver/family/families.h"
#include "resolver/family/release_passes.h"
#include "resolver/request/options.h"
#include "resolver/request/target.h"
#include "resolver/request/want.h"
#include "wheel/core_metadata.h"

namespace axle::resolver {

/// What was chosen for one package, with all that its dependencies follow from.
struct PackageChoice {
  plan::ResolvedPackage package;
  wheel::Version release;  ///< its version without what is only a family's label
  /// Of the first member of a family: what the versions of the others must be.
  std::vector<wheel::Requirement> goes_with;
  std::string followed_label;   ///< the label of the first member that it was chosen by
  std::vector<Remark> remarks;  ///< said when the choice stands
  unsigned pass = 0;            ///< which pass over the releases chose it
  bool fallback = false;        ///< as in ReleaseChoice, with what follows
  std::string remark;
  std::string unlisted_label;
  std::optional<OtherBuild> other;
  std::vector<std::string> direct_urls;  ///< what it was chosen from; empty for a named version
  std::vector<wheel::Requirement> requires_dist;   ///< unevaluated
  std::optional<std::vector<std::string>> extras;  ///< that it provides, where that is known
  wheel::MarkerEnvironment markers;                ///< with the variant markers of this wheel
  std::vector<AbiAssumption> abi;
  std::optional<std::string> yanked;  ///< the reason, for a yanked file
};

/// How many of the versions that are wanted had led to a conflict and were not tried again.
enum class Excluded : std::uint8_t { none, some, all };

struct ChoiceFailure {
  Error error;
  /// Requirements that no version satisfies together: changing the owner of one may help. Empty
  /// when nothing another package does would help.
  std::vector<const Want*> culprits;
  Excluded excluded = Excluded::none;
};

class PackageChooser {
 public:
  /// All must outlive the chooser.
  PackageChooser(const Target& target, Candidates& candidates, Families& families,
                 const Options& options, Report& report);

  [[nodiscard]] std::expected<PackageChoice, ChoiceFailure> choose(const PackageDemand& demand);

  /// The newest version that the wants allow, whether one of its wheels fits or not.
  [[nodiscard]] std::expected<Explanation, ChoiceFailure> explain(const PackageDemand& demand);

  /// The version that would be tried first; nullopt when there is none.
  [[nodiscard]] std::optional<wheel::Version> newest(const PackageDemand& demand);

  /// `requirement` with the URL that its package is assigned to; one of its own is kept.
  [[nodiscard]] wheel::Requirement with_assigned_url(wheel::Requirement requirement) const;

 private:
  using Releases = std::vector<Release*>;

  /// What became of one pass.
  struct Tried {
    std::optional<PackageChoice> choice;
    Release* release = nullptr;       ///< of the choice
    const Release* newest = nullptr;  ///< that nothing was chosen of
    std::optional<Error> newest_trouble;
    /// Of the newest release that has anything for what is asked for: the label, or the vendor.
    std::optional<Error> telling_trouble;
    bool ordinary = true;  ///< releases for newer Pythons are everyday life, all else is not
    Excluded excluded = Excluded::none;
  };

  [[nodiscard]] const plan::InstalledPackage* kept(const PackageDemand& demand);
  [[nodiscard]] std::expected<Releases, ChoiceFailure> releases_for(const PackageDemand& demand);
  [[nodiscard]] std::expected<Releases, ChoiceFailure> direct_releases(const PackageDemand& demand);
  [[nodiscard]] ChoiceFailure why_none_matches(const PackageDemand& demand);
  [[nodiscard]] ChoiceFailure which_want_has_none(const PackageDemand& demand);
  /// To the hint, where other indexes were not asked.
  void say_who_decided(const std::string& name, Error& error);
  /// A version of a member is wanted with a label that it does not come with.
  [[nodiscard]] std::optional<ChoiceFailure> no_such_build(const PackageDemand& demand);
  /// What is installed when it is just what was chosen: then nothing is to be done.
  [[nodiscard]] const plan::InstalledPackage* same_installed(const PackageChoice& choice);
  [[nodiscard]] Result<ReleaseChoice> choose_wheel(const PackageDemand& demand, Release& release,
                                                   Pass pass);
  [[nodiscard]] std::expected<Tried, ChoiceFailure> try_releases(const PackageDemand& demand,
                                                                 const Releases& releases,
                                                                 Pass pass);
  void remark_on(const PackageDemand& demand, const Tried& first, Tried& tried);
  /// Outside of what is wanted; of a package without a family. nullopt: none of the newest.
  [[nodiscard]] std::optional<wheel::Version> newest_that_fits(const PackageDemand& demand);
  /// Puts the newest version that would fit before the error's hint.
  void offer_another_version(const PackageDemand& demand, Error& error);
  /// What `wheel` says of itself. Errors: as of Candidates::metadata; unsupported (it needs another
  /// Python).
  [[nodiscard]] Result<const wheel::CoreMetadata*> metadata_of(const std::string& name,
                                                               const Release& release,
                                                               const CandidateWheel& wheel);
  [[nodiscard]] PackageChoice from_installed(const plan::InstalledPackage& package);
  [[nodiscard]] plan::ResolvedPackage resolved(const std::string& name, const Release& release,
                                               ReleaseChoice choice) const;
  [[nodiscard]] PackageChoice from_release(const std::string& name, const Release& release,
                                           ReleaseChoice choice,
                                           const wheel::CoreMetadata& metadata);

  const Target& target_;
  Candidates& candidates_;
  Families& families_;
  const Options& options_;
  WheelChooser wheels_;
};

/// A failure that no other choice fixes.
[[nodiscard]] std::unexpected<ChoiceFailure> final_failure(Error error);

}  // namespace axle::resolver

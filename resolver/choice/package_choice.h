#pragma once
// One package: its releases, the builds of each, and what one build needs. Which one is taken is
// the solver's question (resolver/solver/).

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
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

/// Requirements that several choices have in common; never nullptr.
using Requirements = std::shared_ptr<const std::vector<wheel::Requirement>>;
[[nodiscard]] const Requirements& no_requirements();

/// What was chosen for one package, with all that its dependencies follow from.
struct PackageChoice {
  plan::ResolvedPackage package;
  wheel::Version release;  ///< its version without what is only a family's label
  /// Of the first member of a family: what the versions of the others must be.
  std::vector<wheel::Requirement> goes_with;
  std::string followed_label;   ///< the label of the first member that it was chosen by
  std::vector<Remark> remarks;  ///< said when the choice stands
  bool fallback = false;        ///< as in ReleaseChoice, with what follows
  std::string remark;
  std::string unlisted_label;
  std::optional<OtherBuild> other;
  Requirements requires_dist = no_requirements();  ///< unevaluated
  std::optional<std::vector<std::string>> extras;  ///< that it provides, where that is known
  std::vector<wheel::AbiNeed> abi_needs;           ///< what its variant was built against
  /// With the variant markers of this wheel; never null.
  std::shared_ptr<const wheel::MarkerEnvironment> markers = nullptr;
  std::optional<std::string> yanked;  ///< the reason, for a yanked file
};

class PackageChooser {
 public:
  /// All must outlive the chooser.
  PackageChooser(const Target& target, Candidates& candidates, Families& families,
                 const Options& options, Report& report);

  /// Why no release can be chosen for what `demand` wants; nullopt: one can.
  [[nodiscard]] std::optional<Error> why_none(const PackageDemand& demand);
  /// The wants of `demand` contradict each other.
  [[nodiscard]] Error no_version_for_all(const PackageDemand& demand);
  /// How the builds of `release` are ranked and why others are rejected.
  [[nodiscard]] Result<plan::Decision> decision(const PackageDemand& demand, Release& release);
  /// Why no wheel of `release` is for this interpreter and platform; empty: some are.
  [[nodiscard]] Facts platform_facts(Release& release) const;

  /// What is installed of the package, unless something that `of_user` or the options say keeps it
  /// from being kept; its version is not looked at. nullptr: nothing is.
  [[nodiscard]] const plan::InstalledPackage* installed_candidate(
      const std::string& name, const std::vector<const Want*>& of_user);
  /// All builds of `release` that have a wheel here (WheelChooser::options).
  [[nodiscard]] Result<std::vector<BuildOption>> options(const PackageDemand& demand,
                                                         Release& release);
  /// The source distribution of `release` that may be built where none of its wheels can be used;
  /// nullopt: it has none, or the user does not consent.
  [[nodiscard]] Result<std::optional<Sdist>> buildable(const PackageDemand& demand,
                                                       const Release& release);
  /// Builds it, once in a run: what came of it is noted in `release`, whose wheel it becomes. An
  /// error is none of the release alone.
  [[nodiscard]] Result<void> build(const Sdist& sdist, Release& release);
  /// What the choice of one of its builds probably begins with (WheelChooser::likely).
  [[nodiscard]] LikelyChoice likely(const PackageDemand& demand, Release& release);
  /// One build of `release`: its label is that of `demand`. The inner error: it cannot be used.
  [[nodiscard]] Result<std::expected<PackageChoice, Error>> take(const PackageDemand& demand,
                                                                 Release& release, Pass pass = {});
  /// Adds to `choice` what is to be said of it: why it is not of the first of `releases`, which are
  /// those that are wanted, best first.
  [[nodiscard]] Result<void> remark(const PackageDemand& demand,
                                    const std::vector<Release*>& releases, Pass pass,
                                    PackageChoice& choice);
  /// The same where `demand` took it of the first of them, which is no build of a family.
  void remark_on_first(const PackageDemand& demand, PackageChoice& choice);
  [[nodiscard]] PackageChoice take_installed(const plan::InstalledPackage& package);

  /// The newest version that the wants allow, whether one of its wheels fits or not.
  [[nodiscard]] Result<Explanation> explain(const PackageDemand& demand);

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
  };

  [[nodiscard]] std::shared_ptr<const wheel::MarkerEnvironment> markers_of(
      std::string_view label, const wheel::VariantProperties& supported);
  [[nodiscard]] Result<Releases> releases_for(const PackageDemand& demand);
  [[nodiscard]] Result<Releases> direct_releases(const PackageDemand& demand);
  [[nodiscard]] Error why_none_matches(const PackageDemand& demand);
  [[nodiscard]] Error which_want_has_none(const PackageDemand& demand);
  /// To the hint, where other indexes were not asked.
  void say_who_decided(const std::string& name, Error& error);
  /// A version of a member is wanted with a label that it does not come with.
  [[nodiscard]] std::optional<Error> no_such_build(const PackageDemand& demand);
  /// What is installed when it is just what was chosen: then nothing is to be done.
  [[nodiscard]] const plan::InstalledPackage* same_installed(const PackageChoice& choice);
  /// What `demand` allows of `release`. `filter` must live as long as the policy.
  [[nodiscard]] Result<WheelPolicy> policy_for(const PackageDemand& demand, const Release& release,
                                               Pass pass, VersionFilter& filter);
  [[nodiscard]] Result<ReleaseChoice> choose_wheel(const PackageDemand& demand, Release& release,
                                                   Pass pass, bool whole);
  [[nodiscard]] Result<Tried> try_releases(const PackageDemand& demand, const Releases& releases,
                                           Pass pass);
  void remark_on(const PackageDemand& demand, const Tried& first, Tried& tried);
  /// The newest release with a build that can be used here, whatever is wanted of the package.
  struct Offer {
    wheel::Version version;
    std::string label;  ///< of the build; empty: a plain wheel
  };
  /// nullopt: none of the newest.
  [[nodiscard]] std::optional<Offer> newest_that_fits(const PackageDemand& demand);
  /// Puts the newest version that would fit before the error's hint.
  void offer_another_version(const PackageDemand& demand, Error& error);
  /// What `wheel` says of itself. Errors: as of Candidates::metadata; unsupported (it needs another
  /// Python).
  [[nodiscard]] Result<WheelMetadata> metadata_of(const std::string& name, const Release& release,
                                                  const CandidateWheel& wheel);
  [[nodiscard]] plan::ResolvedPackage resolved(const std::string& name, const Release& release,
                                               ReleaseChoice choice) const;
  [[nodiscard]] PackageChoice from_release(const std::string& name, const Release& release,
                                           ReleaseChoice choice, const WheelMetadata& metadata);

  const Target& target_;
  Candidates& candidates_;
  /// Of all wheels that are no variant: copies are a good part of what keeping a package takes.
  std::shared_ptr<const wheel::MarkerEnvironment> plain_markers_;
  Families& families_;
  const Options& options_;
  WheelChooser wheels_;
};

}  // namespace axle::resolver

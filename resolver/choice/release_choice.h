#pragma once
// One release in, one wheel out, with the whole decision.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "plan/decision.h"
#include "resolver/catalogue/candidates.h"
#include "resolver/catalogue/release_metadata.h"
#include "resolver/choice/build_option.h"
#include "resolver/choice/ranking.h"
#include "resolver/family/family_reasons.h"
#include "resolver/request/options.h"
#include "resolver/request/package_demand.h"
#include "resolver/request/target.h"
#include "wheel/variant/abi_dependency.h"

namespace axle::resolver {

struct WheelPolicy {
  bool variants = true;  ///< false: plain wheels only
  LabelRule rule = LabelRule::best;
  std::string label;
  bool yanked = false;  ///< yanked files may be used
  /// Labels of a family that count only where nothing else fits may be taken.
  bool fallback = true;
  /// Builds of a family may be taken whose needs are not fully known.
  bool unknown = true;
  /// Namespaces without which no build is taken where there are builds for them.
  const std::set<std::string, std::less<>>* required = nullptr;
  bool required_here = false;               ///< other releases of the package have such builds
  const VersionFilter* versions = nullptr;  ///< what the local versions of files must satisfy
};

struct ReleaseChoice {
  plan::Decision decision;
  const CandidateWheel* chosen = nullptr;  ///< nullptr: nothing fits, see `why_not`
  wheel::VariantProperties properties;     ///< of the chosen variant, as the metadata has them
  wheel::VariantProperties supported;      ///< those that the target supports
  std::vector<AbiAssumption> abi;
  std::vector<wheel::AbiNeed> abi_needs;  ///< of the chosen variant
  std::optional<Error> why_not;           ///< kind unsupported: each candidate with its reason
  /// Nothing is chosen, and the release has nothing for what is asked for: the label, or any GPU
  /// here.
  bool beside_the_point = false;
  bool other_python = false;  ///< nothing fits because all wheels are for another Python
  bool fallback = false;      ///< the chosen label is one of a family's fallback labels
  std::string remark;         ///< what is not right with the choice: unknown needs, a misfit
  /// The label that ranks before all that are left, but whose hash is not listed; empty: none.
  std::string unlisted_label;
  std::optional<OtherBuild> other;  ///< of a fallback: nullopt where the index gives no size
};

/// What a release is probably chosen by: the metadata of its variants, or its best plain wheel.
struct LikelyChoice {
  const CandidateWheel* wheel = nullptr;  ///< nullptr: it has variants here, or nothing
  bool by_variants = false;
};

class WheelChooser {
 public:
  /// All must outlive the chooser.
  WheelChooser(const Target& target, const Options& options, Candidates& candidates,
               Report& report);

  /// All builds of the release that have a wheel here, whatever `policy` says of labels, best
  /// first; those that do not fit come last. Errors: as of `choose`.
  [[nodiscard]] Result<std::vector<BuildOption>> options(const std::string& name, Release& release,
                                                         const WheelPolicy& policy);
  /// The source distribution of a release that can be built, whatever wheels it has; nullptr: it
  /// has none that counts.
  [[nodiscard]] const index::PublishedFile* buildable(const std::string& name,
                                                      const Release& release,
                                                      const WheelPolicy& policy);
  /// What `choose` will probably look at, without looking at it.
  [[nodiscard]] LikelyChoice likely(const std::string& name, Release& release,
                                    const WheelPolicy& policy);
  /// `whole`: the decision lists the files that were left out, as it does where they are the reason
  /// why nothing is chosen. Errors: mismatch for a variants file that is not the listed one, io;
  /// that nothing fits is no error but an empty choice.
  [[nodiscard]] Result<ReleaseChoice> choose(const std::string& name, Release& release,
                                             const WheelPolicy& policy, const VersionOf& version_of,
                                             bool whole);

 private:
  struct UsableWheels {
    std::vector<const CandidateWheel*> plain;
    std::vector<const CandidateWheel*> variants;
    /// That would be usable, but that their hashes are not among those listed.
    std::vector<const CandidateWheel*> unlisted;
  };

  /// What is known of a release before one of its builds is picked.
  struct Judged {
    UsableWheels usable;
    const ReleaseMetadata* metadata = nullptr;  ///< nullptr: it has no variants
    SupportedProperties supported;
    bool needed = false;  ///< there are builds for what --require names

    [[nodiscard]] bool is_ranked() const { return metadata != nullptr && metadata->document; }
  };

  /// `usable`: of `release`. `reasons`: as of rank.
  [[nodiscard]] Result<Judged> judge(const std::string& name, const Release& release,
                                     const WheelPolicy& policy, const VersionOf& version_of,
                                     UsableWheels usable, bool reasons, ReleaseChoice& choice);
  /// `skipped`: where the others are listed, with the reasons; nullptr: nobody reads that.
  [[nodiscard]] UsableWheels usable_wheels(const std::string& name, Release& release,
                                           const WheelPolicy& policy,
                                           std::vector<plan::SkippedFile>* skipped);
  /// nullopt: it can be used, as far as its name and its entry in the index tell.
  [[nodiscard]] std::optional<plan::SkipCode> skip_code(const std::string& name,
                                                        const Release& release,
                                                        const CandidateWheel& wheel,
                                                        const WheelPolicy& policy);
  /// What `code` says of `wheel`.
  [[nodiscard]] std::string skip_reason(const std::string& name, plan::SkipCode code,
                                        const CandidateWheel& wheel) const;
  [[nodiscard]] bool python_fits(const std::string& name, const index::PublishedFile& file);
  using Wheels = std::vector<const CandidateWheel*>;

  /// The variants that have a wheel here, ranked; the supported lists are returned. With `reasons`
  /// also those that are rejected, and the facts of the machine that decided, which take longer to
  /// find than the ranking.
  [[nodiscard]] SupportedProperties rank(const ReleaseMetadata& metadata,
                                         const UsableWheels& usable, const VersionOf& version_of,
                                         bool reasons, ReleaseChoice& choice);
  void choose_variant(const Judged& judged, const WheelPolicy& policy, ReleaseChoice& choice);
  /// `view`: the one of `views_` that is spoken of; nullptr: the whole machine.
  [[nodiscard]] Facts facts_about(const wheel::Property& property, const detect::Machine* view,
                                  const ReleaseChoice& choice) const;
  [[nodiscard]] std::vector<plan::DecidingProperty> with_facts(
      std::vector<wheel::Property> properties) const;
  [[nodiscard]] Facts facts_against(const wheel::Property& rejected,
                                    const wheel::VariantProperties& properties,
                                    const detect::Machine* view, const ReleaseChoice& choice) const;

  const Target& target_;
  wheel::Version python_;  ///< without its pre-release part, as pip compares it
  const Options& options_;
  std::vector<detect::Machine> views_;  ///< providers::device_views
  bool gpus_matter_;
  Candidates& candidates_;
  Report& report_;
  /// By requires-python, as far as it is valid: most files of a release have the same.
  std::map<std::string, bool, std::less<>> fitting_pythons_;
};

}  // namespace axle::resolver

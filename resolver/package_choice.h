#pragma once
// One package: which version, which wheel. It goes back to older versions when the newest has bad
// metadata or no wheel that fits; what is installed and satisfies everybody is kept.

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "resolver/candidates.h"
#include "resolver/decision.h"
#include "resolver/messages.h"
#include "resolver/release_choice.h"
#include "resolver/solver.h"
#include "wheel/core_metadata.h"

namespace axle::resolver {

/// What was chosen for one package, with all that its dependencies follow from.
struct PackageChoice {
  ResolvedPackage package;
  std::vector<std::string> direct_urls;  ///< what it was chosen from; empty for a named version
  std::vector<wheel::Requirement> requires_dist;   ///< unevaluated
  std::optional<std::vector<std::string>> extras;  ///< that it provides, where that is known
  wheel::MarkerEnvironment markers;                ///< with the variant markers of this wheel
  std::vector<AbiAssumption> abi;
  std::optional<std::string> yanked;  ///< the reason, for a yanked file
};

struct Question {
  std::string name;                ///< normalised
  std::vector<const Want*> wants;  ///< constraints included; never empty
  /// Versions that led to a conflict, with the conflict.
  const std::map<wheel::Version, std::string>* excluded = nullptr;
  VersionOf version_of;
};

struct ChoiceFailure {
  Error error;
  /// Requirements that no version satisfies together: changing the owner of one may help. Empty
  /// when nothing another package does would help.
  std::vector<const Want*> culprits;
  bool exhausted = false;  ///< there would be versions, but all of them were excluded
};

class PackageChooser {
 public:
  /// All must outlive the chooser.
  PackageChooser(const Target& target, const std::vector<InstalledPackage>& installed,
                 const Sources& sources, const Options& options, Report& report);

  [[nodiscard]] std::expected<PackageChoice, ChoiceFailure> choose(const Question& question);

  /// The newest version that the wants allow, whether one of its wheels fits or not.
  [[nodiscard]] std::expected<Explanation, ChoiceFailure> explain(const Question& question);

  /// The version that would be tried first; nullopt when there is none.
  [[nodiscard]] std::optional<wheel::Version> newest(const Question& question);

  [[nodiscard]] const InstalledPackage* installed(std::string_view name) const;

 private:
  using Releases = std::vector<Release*>;

  [[nodiscard]] const InstalledPackage* kept(const Question& question) const;
  [[nodiscard]] std::expected<Releases, ChoiceFailure> releases_for(const Question& question);
  [[nodiscard]] std::expected<Releases, ChoiceFailure> direct_releases(const Question& question);
  [[nodiscard]] ChoiceFailure why_none_matches(const Question& question);
  [[nodiscard]] Result<ReleaseChoice> choose_wheel(const Question& question, Release& release);
  [[nodiscard]] Result<const wheel::CoreMetadata*> metadata_of(const std::string& name,
                                                               const Release& release,
                                                               const CandidateWheel& wheel);
  [[nodiscard]] Result<void> check_metadata(const std::string& name, const CandidateWheel& wheel,
                                            const wheel::CoreMetadata& metadata) const;
  [[nodiscard]] PackageChoice from_installed(const InstalledPackage& package) const;
  [[nodiscard]] ResolvedPackage resolved(const std::string& name, const Release& release,
                                         ReleaseChoice choice) const;
  [[nodiscard]] PackageChoice from_release(const std::string& name, const Release& release,
                                           ReleaseChoice choice,
                                           const wheel::CoreMetadata& metadata) const;

  const Target& target_;
  const std::vector<InstalledPackage>& installed_;
  const Sources& sources_;
  const Options& options_;
  Report& report_;
  Catalogue catalogue_;
  WheelChooser wheels_;
  std::map<std::string, Result<wheel::CoreMetadata>, std::less<>> metadata_;  ///< by URL
  std::map<std::string, Release*, std::less<>> direct_;                       ///< by joined URLs
};

/// The URLs that `wants` name, each once, in order.
[[nodiscard]] std::vector<std::string> direct_urls(const std::vector<const Want*>& wants);

/// `target`'s markers completed by what the chosen wheel says of its variant
/// (PEP 825 "Environment markers").
[[nodiscard]] wheel::MarkerEnvironment variant_markers(const wheel::MarkerEnvironment& target,
                                                       std::string_view label,
                                                       const wheel::VariantProperties& supported);

}  // namespace axle::resolver

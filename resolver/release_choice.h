#pragma once
// One release in, one wheel out, with the whole decision.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/error.h"
#include "report/report.h"
#include "resolver/candidates.h"
#include "resolver/decision.h"
#include "resolver/release_metadata.h"
#include "resolver/solver.h"

namespace axle::resolver {

/// The version of a package in the solution so far, or installed and kept; nullopt when there is
/// none. What `abi_dependency` asks.
using VersionOf = std::function<std::optional<wheel::Version>(const std::string& package)>;

struct WheelPolicy {
  bool variants = true;      ///< false: plain wheels only
  std::string pinned_label;  ///< exactly this variant; empty: the best
  bool yanked = false;       ///< yanked files may be used
};

/// A version of another package that a choice rests on (`abi_dependency`).
struct AbiAssumption {
  std::string package;  ///< normalised
  std::optional<wheel::Version> version;
};

struct ReleaseChoice {
  Decision decision;
  const CandidateWheel* chosen = nullptr;  ///< nullptr: nothing fits, see `why_not`
  wheel::VariantProperties properties;     ///< of the chosen variant, as the metadata has them
  wheel::VariantProperties supported;      ///< those that the target supports
  std::vector<AbiAssumption> abi;
  std::optional<Error> why_not;  ///< kind unsupported: each candidate with its reason
  bool other_python = false;     ///< nothing fits because all wheels are for another Python
};

class WheelChooser {
 public:
  /// All must outlive the chooser.
  WheelChooser(const Target& target, const Options& options, index::Transport& transport,
               Report& report);

  /// Errors: mismatch for a variants file that is not the listed one, io; that nothing fits is no
  /// error but an empty choice.
  [[nodiscard]] Result<ReleaseChoice> choose(const std::string& name, Release& release,
                                             const WheelPolicy& policy,
                                             const VersionOf& version_of);

 private:
  struct Usable {
    std::vector<const CandidateWheel*> plain;
    std::vector<const CandidateWheel*> variants;
    std::size_t other_python = 0;  ///< wheels left out for their requires-python
  };

  [[nodiscard]] Usable usable_wheels(const std::string& name, Release& release,
                                     const WheelPolicy& policy, Decision& decision);
  [[nodiscard]] bool python_fits(const std::string& name, const index::PublishedFile& file);
  [[nodiscard]] Result<const ReleaseMetadata*> metadata_of(
      const Release& release, const std::vector<const CandidateWheel*>& wheels);
  void choose_variant(const ReleaseMetadata& metadata,
                      const std::vector<const CandidateWheel*>& wheels, const WheelPolicy& policy,
                      const VersionOf& version_of, ReleaseChoice& choice);
  [[nodiscard]] std::string fact_about(const wheel::Property& property,
                                       const ReleaseChoice& choice) const;

  const Target& target_;
  wheel::Version python_;  ///< without its pre-release part, as pip compares it
  const Options& options_;
  index::Transport& transport_;
  Report& report_;
  std::map<const Release*, ReleaseMetadata> metadata_;
};

}  // namespace axle::resolver

#pragma once
// The features of one release's builds on one machine: which entry of the family's file counts, and
// what decides it.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/features/feature_needs.h"
#include "doctor/judged_machine.h"
#include "index/family/family.h"
#include "wheel/marker.h"
#include "wheel/version.h"

namespace axle::doctor {

/// "2.1" of a release as a version.
[[nodiscard]] wheel::Version version_of(const index::FamilyRelease& release);

/// Empty without one.
[[nodiscard]] std::string text_of(const std::optional<wheel::Version>& version);

class FeatureJudge {
 public:
  struct Decision {
    NeedAnswer need;
    std::string label;  ///< of the build that has it; empty if none does
  };

  /// `chosen`: only the build with this label counts; empty: the best one that fits.
  FeatureJudge(const index::Family& family, const index::FamilyRelease& release,
               const JudgedMachine& judged, const wheel::MarkerEnvironment& markers,
               std::string_view chosen);

  /// The file lists builds of the release for this machine's platform.
  [[nodiscard]] bool has_builds() const { return !builds_.labels.empty(); }
  /// The entry says something of this release.
  [[nodiscard]] bool knows(const index::FamilyFeature& feature) const {
    return feature.releases.contains(version_);
  }
  /// The release is none before or after those with the feature.
  [[nodiscard]] bool is_in_time(const index::FamilyFeature& feature) const {
    return !is_before(feature) && !is_after(feature);
  }
  [[nodiscard]] bool is_before(const index::FamilyFeature& feature) const {
    return feature.since && version_ < *feature.since;
  }
  /// The entry is about this machine's platform.
  [[nodiscard]] bool is_for_platform(const index::FamilyFeature& feature) const;
  /// It is for no vendor's GPUs, or for those of one that this machine has one of.
  [[nodiscard]] bool has_gpu_for(const index::FamilyFeature& feature) const;
  /// It is for a vendor that this machine has a GPU of, whether it works or not.
  [[nodiscard]] bool is_of_gpu_here(const index::FamilyFeature& feature) const;

  /// Of an entry that knows the release.
  [[nodiscard]] Decision decide(const index::FamilyFeature& feature) const;

 private:
  /// The builds of the release on the machine.
  struct Builds {
    std::string platform;
    std::set<std::string, std::less<>> labels;  ///< of all that the file lists for the platform
    VariantFit fit;
    VariantFit fit_with_newest_driver;
    std::set<std::string, std::less<>> unknown;
    /// Labels of builds whose wheels are for a newer macOS, and that: "14.0".
    std::map<std::string, std::string, std::less<>> for_newer_macos;
  };

  [[nodiscard]] Builds judge_builds(const wheel::MarkerEnvironment& markers) const;
  [[nodiscard]] bool is_after(const index::FamilyFeature& feature) const {
    return feature.until && !(version_ < *feature.until);
  }
  [[nodiscard]] std::string release_title() const;
  [[nodiscard]] NeedAnswer with_release(NeedAnswer lacking,
                                        const index::FamilyFeature& feature) const;
  [[nodiscard]] std::optional<NeedAnswer> misfit_of_release(
      const index::FamilyFeature& feature) const;
  [[nodiscard]] std::optional<NeedAnswer> misfit_of_platform(
      const index::FamilyFeature& feature) const;
  [[nodiscard]] std::string build_with(const index::FamilyFeature& feature) const;
  [[nodiscard]] const std::string& driver_of(const index::FamilyLabel& label) const;
  [[nodiscard]] NeedAnswer or_elsewhere(NeedAnswer lacking,
                                        const index::FamilyFeature& feature) const;
  [[nodiscard]] Change other_platform(const std::vector<std::string>& platforms) const;
  [[nodiscard]] Change other_gpu(const index::FamilyLabel* label) const;
  [[nodiscard]] std::optional<Change> newer_driver_for(std::string_view label,
                                                       const VariantFit::Misfit& misfit) const;
  [[nodiscard]] std::vector<Change> newer_drivers(const index::FamilyFeature& feature) const;
  [[nodiscard]] NeedAnswer misfit_of_macos(const std::string& needed) const;
  [[nodiscard]] std::optional<NeedAnswer> misfit_of(std::string_view label) const;
  [[nodiscard]] NeedAnswer without_build(const index::FamilyFeature& feature) const;

  const index::Family& family_;
  const index::FamilyRelease& release_;
  const JudgedMachine& judged_;
  std::string_view chosen_;
  wheel::Version version_;
  Builds builds_;
};

}  // namespace axle::doctor

#pragma once
// What is said of one feature: the answer of the entry that counts, of all with its name.

#include <span>
#include <string>
#include <vector>

#include "doctor/features/feature_judge.h"
#include "doctor/features/feature_needs.h"
#include "index/family/family.h"

namespace axle::doctor {

struct FeatureAnswer {
  std::string name;
  std::string title;
  Usable usable = Usable::unknown;
  std::string reason;  ///< the fact that decided
  std::string change;  ///< what would make it usable, or how to find out; may be empty
  std::string label;   ///< of the build that has it; empty if none does
  std::string since;   ///< the first release with it; empty: as far back as is known
  std::string until;   ///< from this release on it is gone; empty: it is not
  std::string note;
  std::string source;
  std::string confidence;
  std::string date;
};

struct JudgedFeature {
  FeatureAnswer answer;         ///< without advice that has to be tried
  std::vector<Change> changes;  ///< of the entry that counts
  std::vector<Change> others;   ///< of the other ones, and other platforms
  bool of_release = false;      ///< NeedAnswer::of_release
};

/// The best answer of the entries with one name: one that knows the release before one that does
/// not, then by usability, then one that is about a GPU of this machine, about its platform, about
/// the release, then the first.
[[nodiscard]] JudgedFeature judge_entries(const index::Family& family,
                                          const index::FamilyRelease& release,
                                          const FeatureJudge& judge,
                                          std::span<const index::FamilyFeature> entries);

}  // namespace axle::doctor

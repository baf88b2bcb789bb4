#pragma once
// The features of one release, as usable on a machine or not: `doctor --for-package torch==2.9`.

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/judged_machine.h"
#include "index/family/family.h"
#include "wheel/marker.h"
#include "wheel/version.h"

namespace axle::doctor {

enum class Usable : std::uint8_t { yes, unknown, no };

struct FeatureAnswer {
  std::string name;
  std::string title;
  Usable usable = Usable::unknown;
  std::string reason;  ///< the fact that decided
  std::string label;   ///< of the build that has it; empty if none does
  std::string note;
  std::string source;
  std::string confidence;
  std::string date;
};

/// The release that a requirement on the family's first member refers to: the newest that the file
/// contains and that it allows. nullptr: none.
[[nodiscard]] const index::FamilyRelease* meant_release(const index::Family& family,
                                                        const wheel::SpecifierSet& wanted);

/// One answer per feature, in the file's order.
[[nodiscard]] std::vector<FeatureAnswer> list_features(const index::Family& family,
                                                       const index::FamilyRelease& release,
                                                       const JudgedMachine& judged,
                                                       const wheel::MarkerEnvironment& markers);

}  // namespace axle::doctor

#pragma once
// The features of one release, as usable on a machine or not: `doctor --for-package torch==2.9`,
// and of the build that `explain torch` chose.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/features/feature_answer.h"
#include "doctor/judged_machine.h"
#include "index/family/family.h"
#include "index/family/family_book.h"
#include "plan/resolution.h"
#include "wheel/marker.h"
#include "wheel/version.h"

namespace axle::doctor {

/// The version of "==2.9.1+cu128"; nullopt without such a clause.
[[nodiscard]] std::optional<wheel::Version> exact_version(const wheel::SpecifierSet& wanted);

/// The release that a requirement on the family's first member refers to: that of an exact version,
/// if it has the build that is named with it, else the newest that the file contains and that it
/// allows. nullptr: none.
[[nodiscard]] const index::FamilyRelease* meant_release(const index::Family& family,
                                                        const wheel::SpecifierSet& wanted);

/// For advice many other machines and releases are judged.
enum class Detail : std::uint8_t { usable, advice };

/// One answer per feature, in the file's order. `chosen`: only the build with this label counts;
/// empty: the best one that fits the machine and has the feature.
[[nodiscard]] std::vector<FeatureAnswer> list_features(const index::Family& family,
                                                       const index::FamilyRelease& release,
                                                       const JudgedMachine& judged,
                                                       const wheel::MarkerEnvironment& markers,
                                                       std::string_view chosen = {},
                                                       Detail detail = Detail::advice);

/// Those of the build that was chosen; empty if it is not of a family's first member, or no facts
/// are known about its release. Errors: of the family's file.
[[nodiscard]] Result<std::vector<FeatureAnswer>> list_chosen_features(
    index::FamilyBook& families, const plan::ResolvedPackage& package, const JudgedMachine& judged,
    const wheel::MarkerEnvironment& markers, Detail detail);

}  // namespace axle::doctor

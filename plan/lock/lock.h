#pragma once
// axle.lock: what a project's environments hold, on which machines. One file for all classes of
// machines; docs/lock.md describes it. Data: it says nothing of how an answer was found.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "plan/resolution.h"
#include "wheel/requirement.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/version.h"

namespace axle::plan {

inline constexpr std::int64_t lock_schema = 1;
inline constexpr std::string_view lock_filename = "axle.lock";

/// One class of machines, as the project names it, and when its answer holds.
struct LockedClass {
  std::string name;     ///< "train"
  std::string machine;  ///< as the project states it: "h100"
  std::string python;   ///< "3.12": minor releases are classes of their own
  /// The weakest predicate under which the same packages come out (machines/predicate/predicate.h):
  /// "arch = x86_64 and driver >= 570.26 and sm in {90}".
  std::string holds;
};

/// What a package needs, and what one of its extras adds. Requirements are PEP 508 texts without
/// markers that are false in every class of the package; names are normalised.
struct LockedNeeds {
  std::vector<std::string> always;
  std::map<std::string, std::vector<std::string>, std::less<>> extras;
};

/// One file of one release. Of one name there are as many as the classes need different files.
struct LockedPackage {
  std::string name;  ///< normalised
  wheel::Version version;
  std::vector<std::string> classes;  ///< names, in the lock's order; never empty
  std::optional<std::string> variant;
  std::string family;  ///< of an index family whose label `variant` is
  wheel::VariantProperties properties;
  /// Those of `properties` that the class's machine supports: what variant markers see.
  wheel::VariantProperties supported;
  std::string source;    ///< index or folder; empty: it was named by its place
  std::string filename;  ///< of the wheel; of a package that is built: empty
  std::string url;       ///< http(s) or file; relative to the lock's folder if below it
  std::string sha256;    ///< of the wheel; empty: only of what is built from a folder or repository
  std::optional<std::uint64_t> size;
  std::string provenance;               ///< URL of its attestations; empty: none
  std::vector<std::string> publishers;  ///< that verified attestations name
  std::optional<BuiltFrom> built_from;
  bool editable = false;
  std::string because;  ///< plan::Decision::chosen_because; empty for plain wheels
  LockedNeeds needs;
};

/// What the project asks for, as it was when the lock was made.
struct LockedRequests {
  std::vector<std::string> project;  ///< requirements of [project], PEP 508
  std::map<std::string, std::vector<std::string>, std::less<>> extras;
  std::map<std::string, std::vector<std::string>, std::less<>> groups;
};

struct Lock {
  std::string made_by;  ///< "axle 0.9.0"
  std::string requires_python;
  /// sha256 over all that the answer depends on but the index's content: requests, constraints,
  /// overrides, sources, indexes, classes, options. Another one: the lock is out of date.
  std::string inputs;
  LockedRequests requests;
  std::vector<LockedClass> classes;     ///< in the project's order
  std::vector<LockedPackage> packages;  ///< by name, then version, then file

  [[nodiscard]] const LockedClass* find_class(std::string_view name) const;
};

/// Stable: the same lock has the same bytes, and one changed package changes its own lines alone.
[[nodiscard]] std::string render_lock(const Lock& lock);

/// `where` is named in errors. Errors: malformed (line, key, and what contradicts what: two classes
/// of one name, a package of an unknown class, two files of one name in one class, a need that no
/// package of the class meets, conflict markers of a merge), unsupported (a newer schema).
[[nodiscard]] Result<Lock> parse_lock(std::string_view text, const std::string& where);

/// Puts the answers for several classes together: equal files of a package become one entry.
struct ClassAnswer {
  LockedClass about;
  Resolution resolution;
};
[[nodiscard]] std::vector<LockedPackage> join_answers(const std::vector<ClassAnswer>& answers);

/// Which of what the project asks for is wanted.
struct LockSelection {
  std::vector<std::string> extras;  ///< normalised
  std::vector<std::string> groups;  ///< normalised
  bool project = true;              ///< false: --only-group
};

/// The packages of `class_name` that `wanted` leads to, sorted by name; `markers` decide about the
/// markers of requests and needs. Errors: not_found for an extra or a group that the lock does not
/// have; malformed for a need that nothing meets.
[[nodiscard]] Result<std::vector<const LockedPackage*>> locked_closure(
    const Lock& lock, std::string_view class_name, const LockSelection& wanted,
    const wheel::MarkerEnvironment& markers);

/// As a plan for the installer. `folder`: of the lock, absolute: URLs may be relative to it.
/// Errors: malformed for a file name or URL that is none.
[[nodiscard]] Result<Resolution> as_resolution(const std::vector<const LockedPackage*>& packages,
                                               const std::string& folder);

}  // namespace axle::plan

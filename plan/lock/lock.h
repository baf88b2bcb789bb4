#pragma once
// axle.lock: what a project's environments hold, on which machines. One file for all classes of
// machines; docs/lock.md describes it. Data: it says nothing of how an answer was found.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "plan/resolution.h"
#include "wheel/marker.h"
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
  /// The patch releases of `python` for which the same packages come out, where that is not all of
  /// them: ">=3.12.4" (PEP 440). Markers and Requires-Python may tell them apart.
  std::string python_releases = {};
  friend bool operator==(const LockedClass&, const LockedClass&) = default;
};

/// What a package needs, and what one of its extras adds. Requirements are PEP 508 texts, names
/// normalised, sorted. A marker that holds in every class of the package is left out; one that
/// holds in none takes its requirement with it.
struct LockedNeeds {
  std::vector<std::string> always;
  std::map<std::string, std::vector<std::string>, std::less<>> extras;
  friend bool operator==(const LockedNeeds&, const LockedNeeds&) = default;
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
  /// Index or folder, which is relative to the lock's if below it; empty: it was named by its
  /// place.
  std::string source;
  std::string filename;  ///< of the wheel; of a package that is built: empty
  std::string url;       ///< http(s) or file; relative to the lock's folder if below it
  std::string sha256;    ///< of the wheel; of a package that is built: empty
  std::optional<std::uint64_t> size;
  std::string provenance;               ///< URL of its attestations; empty: none
  std::vector<std::string> publishers;  ///< that verified attestations name
  /// Its `url` as above; who built it when the lock was made is not kept.
  std::optional<BuiltFrom> built_from;
  /// Distributions with the same modules, in whose place it is taken; sorted.
  std::vector<std::string> stands_for;
  std::string because;  ///< Decision::chosen_because in the first class; empty for plain wheels
  LockedNeeds needs;

  [[nodiscard]] bool is_in(std::string_view class_name) const;
  friend bool operator==(const LockedPackage&, const LockedPackage&) = default;
};

/// What the project asks for, as it was when the lock was made.
struct LockedRequests {
  std::vector<std::string> project;  ///< requirements of [project], PEP 508
  std::map<std::string, std::vector<std::string>, std::less<>> extras = {};
  std::map<std::string, std::vector<std::string>, std::less<>> groups = {};
  friend bool operator==(const LockedRequests&, const LockedRequests&) = default;
};

struct Lock {
  std::string made_by;  ///< "axle 0.9.0"
  std::string requires_python;
  /// sha256 over all that the answer depends on but the index's content: requests, constraints,
  /// overrides, sources, indexes, classes, options. Another one: the lock is out of date. 64 hex
  /// digits.
  std::string inputs = {};
  LockedRequests requests = {};
  std::vector<LockedClass> classes = {};     ///< in the project's order
  std::vector<LockedPackage> packages = {};  ///< by name, then version, then file

  [[nodiscard]] const LockedClass* find_class(std::string_view name) const;
  friend bool operator==(const Lock&, const Lock&) = default;
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
using PackageNames = std::set<std::string, std::less<>>;
/// `folder`: of the lock, absolute. What is below it is named relative to it, and so is what lies
/// beside it of the packages whose place is written so (`placed_relative`, normalised); logins in
/// URLs are left out.
[[nodiscard]] std::vector<LockedPackage> join_answers(const std::vector<ClassAnswer>& answers,
                                                      const std::string& folder,
                                                      const PackageNames& placed_relative = {});

/// Which of what the project asks for is wanted.
struct LockSelection {
  std::vector<std::string> extras;  ///< normalised
  std::vector<std::string> groups;  ///< normalised
  bool project = true;              ///< false: --only-group
};

/// A package that a selection leads to. It is valid as long as the lock.
struct ReachedPackage {
  const LockedPackage* package = nullptr;
  bool requested = false;           ///< the project asks for it itself
  std::vector<std::string> extras;  ///< that somebody wants of it; sorted
  /// What it requires with these extras.
  std::vector<wheel::Requirement> dependencies;
  std::vector<std::string> required_by;  ///< names of packages, sorted
};

/// The packages of `class_name` that `wanted` leads to, sorted by name; `markers`, of the
/// interpreter, decide about the markers of requests and needs. Errors: not_found for a class, an
/// extra or a group that the lock does not have; malformed for a need that nothing meets.
[[nodiscard]] Result<std::vector<ReachedPackage>> locked_closure(
    const Lock& lock, std::string_view class_name, const LockSelection& wanted,
    const wheel::MarkerEnvironment& markers);

/// The package of `class_name` with that name (normalised), or that stands for it; else nullptr.
[[nodiscard]] const LockedPackage* find_locked(const Lock& lock, std::string_view class_name,
                                               std::string_view name);

/// `url` or `place` of a locked package, absolute. `folder`: of the lock, absolute.
[[nodiscard]] std::string absolute_place(std::string_view place, const std::string& folder);

/// As a plan for the installer, as the resolver would have given it. A package that is to be built
/// has `built_from` and neither a file name nor a URL: whoever builds it fills them in. `folder`:
/// as above. Errors: malformed for a file name that is none.
[[nodiscard]] Result<Resolution> as_resolution(const std::vector<ReachedPackage>& packages,
                                               const std::string& folder);

}  // namespace axle::plan

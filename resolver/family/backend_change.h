#pragma once
// Backends do not change by themselves: what a plan would make of installed builds. A backend is a
// family's label; of other variants, the vendors of the GPUs that they are for.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/resolution.h"
#include "resolver/family/families.h"
#include "resolver/solver/unresolved.h"

namespace axle::resolver {

/// A build of an installed package that stays: its label, and the version of the package where that
/// is settled.
struct KeptBuild {
  std::string label;
  std::optional<wheel::Version> version;
};
using KeptBuilds = std::map<std::string, KeptBuild, std::less<>>;  ///< by package

struct BackendChange {
  PlannedChange planned;
  KeptBuild kept;  ///< how it would stay what it is
};

/// What a build is for. Builds that no family has a label for differ by vendor alone.
struct Backend {
  std::string label;  ///< for people; empty: not known
  bool is_family_label = false;
  bool is_variant = false;                     ///< one of which the vendors are known
  std::set<std::string, std::less<>> vendors;  ///< of GPUs
};

[[nodiscard]] Backend installed_backend(const plan::InstalledPackage& package, Families& families);
[[nodiscard]] Backend planned_backend(const plan::ResolvedPackage& package, Families& families);

/// What is not known may become anything, and a variant for CPUs another one for CPUs.
[[nodiscard]] bool is_backend_change(const Backend& from, const Backend& to);

/// Installed builds for GPUs. Where nothing can be chosen for this machine they keep their
/// backends: the next release may have builds for those alone.
[[nodiscard]] KeptBuilds installed_gpu_builds(const std::vector<plan::InstalledPackage>& installed,
                                              Families& families, const Options& options);

/// A plan that changes backends unasked. `why_not_kept`: why they cannot stay. `newest`: package ->
/// the newest version that has its installed label, where there is one.
[[nodiscard]] Unresolved refused_backends(std::vector<PlannedChange> changes,
                                          const std::string& why_not_kept,
                                          const std::map<std::string, std::string>& newest);

}  // namespace axle::resolver

#pragma once
// What an installed package needs of another one, wherever it says so: Requires-Dist, an
// abi_dependency of its variant, or a local version such as "+cu12torch2.9cxx11abiTRUE".

#include <optional>
#include <string>
#include <vector>

#include "plan/installed_package.h"
#include "resolver/family/families.h"
#include "resolver/solver/unresolved.h"
#include "wheel/marker.h"
#include "wheel/specifier.h"

namespace axle::resolver {

struct InstalledNeed {
  std::string package;                      ///< normalised
  std::vector<wheel::SpecifierSet> any_of;  ///< one of them must hold
  std::optional<BuiltFor> built;            ///< of torch: what its build must be as well
  std::string text;  ///< for people: "torch==2.10.*", "torch 2.9 for CUDA 12, says its version"
};

/// A need of an installed package that a plan does not meet.
struct BrokenNeed {
  Breakage breakage;
  InstalledNeed need;
  bool was_sound = false;  ///< what is installed meets it
  bool requested = false;  ///< the user names the package that is needed
};

/// `markers`: of the interpreter. Requirements of extras are not known to be wanted, and left out.
[[nodiscard]] std::vector<InstalledNeed> needs_of(const plan::InstalledPackage& package,
                                                  const wheel::MarkerEnvironment& markers,
                                                  Families& families);

/// Plans that break installed packages.
[[nodiscard]] Unresolved refused_breakages(std::vector<Breakage> broken);

}  // namespace axle::resolver

#pragma once
// What an installed package needs of another one, wherever it says so: Requires-Dist, an
// abi_dependency of its variant, or a local version such as "+cu12torch2.9cxx11abiTRUE".

#include <optional>
#include <string>
#include <vector>

#include "plan/installed_package.h"
#include "resolver/solver/unresolved.h"
#include "wheel/marker.h"
#include "wheel/specifier.h"

namespace axle::resolver {

struct InstalledNeed {
  std::string package;                      ///< normalised
  std::vector<wheel::SpecifierSet> any_of;  ///< one of them must hold
  std::string cuda;  ///< major version of CUDA that the other's build must have; empty: any
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
                                                  const wheel::MarkerEnvironment& markers);

/// What a local version says of torch: flash-attn's "cu12torch2.9cxx11abitrue", PyG's "pt29cu128".
[[nodiscard]] std::optional<InstalledNeed> need_in_local_version(const wheel::Version& version);

/// Plans that break installed packages.
[[nodiscard]] Unresolved refused_breakages(std::vector<Breakage> broken);

}  // namespace axle::resolver

#pragma once
// The packages of a class of a lock, by who requires whom.

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plan/lock/lock.h"

namespace axle::cli {

struct LockTree {
  const plan::LockedClass& about;
  std::vector<plan::ReachedPackage> packages;  ///< sorted by name
};

struct TreeForm {
  std::string inverted;  ///< a package whose dependents are shown; empty: what the project asks for
  std::size_t depth = std::numeric_limits<std::size_t>::max();  ///< 0: the first level alone
};

/// A package is expanded once; where it stands again, "(*)" is behind it.
[[nodiscard]] std::string render_tree(const LockTree& tree, const TreeForm& form);
/// {name, machine, python, holds, packages: [{name, version, variant, requested, extras, requires,
/// required_by}]}
[[nodiscard]] nlohmann::ordered_json tree_json(const LockTree& tree);

}  // namespace axle::cli

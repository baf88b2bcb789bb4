#pragma once
// Why there is no resolution, and the plan that was refused, if there was one.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "plan/conflict.h"

namespace axle::resolver {

/// One package of a plan that is refused, as it is and as it would be.
struct PlannedChange {
  std::string name;
  std::string installed_version;
  std::string installed_backend;  ///< empty: not known
  std::string version;
  std::string backend;        ///< empty: not known
  std::string new_name = {};  ///< of the package that replaces it, if it is another
};

/// An installed package that a plan would break: it needs what the plan takes away.
struct Breakage {
  std::string name;
  std::string version;
  std::string needs;  ///< "torch==2.10.*", "torch 2.10 (its version says so)"
  std::string gets;   ///< "torch 2.15.0+cu132"
};

struct Unresolved : Error {
  std::vector<PlannedChange> changes = {};  ///< of backends
  std::vector<Breakage> broken = {};
  plan::Conflict conflict = {};  ///< of requirements
};

}  // namespace axle::resolver

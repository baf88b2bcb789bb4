#pragma once
// Whether the interpreter of an environment starts, and what is to blame if it does not: a line of
// a .pth file, a sitecustomize or usercustomize, or a variable.

#include <optional>
#include <string>

#include "doctor/finding.h"
#include "doctor/start/start_trial.h"
#include "foundation/report/error.h"

namespace axle::doctor {

struct StartVerdict {
  bool explained = false;  ///< it does not start, and findings say why
  /// It does not start, and nothing that is known is to blame.
  std::optional<Error> unexplained = {};
  StartedSearch search = {};  ///< of the first start
};

/// Starts `python` once, and more often only if something is wrong. `surroundings`: with this
/// process's variables and the user's own packages, as a user starts it here.
[[nodiscard]] StartVerdict check_start(const std::string& python, bool surroundings,
                                       Findings& findings);

}  // namespace axle::doctor

#pragma once

#include <optional>
#include <string>

#include "plan/decision.h"
#include "plan/resolution.h"
#include "wheel/version.h"

namespace axle::resolver {

/// Like the failure part of `resolve` for one release, kept as data: the decision that an
/// `unsupported` error renders, for `explain` and --json.
struct Explanation {
  std::string name;
  wheel::Version version;
  plan::Decision decision;
  std::optional<plan::ResolvedPackage> chosen;
};

}  // namespace axle::resolver

#pragma once
// What is in the environment that a command speaks of.

#include <string>
#include <vector>

#include "cli/failure.h"
#include "cli/session.h"
#include "installer/environment.h"
#include "installer/installed.h"

namespace axle::cli {

struct Inventory {
  installer::Environment environment;
  std::vector<installer::InstalledDistribution> distributions;
};

[[nodiscard]] Outcome<Inventory> take_inventory(Session& session);

[[nodiscard]] std::string version_of(const installer::InstalledDistribution& distribution);

}  // namespace axle::cli

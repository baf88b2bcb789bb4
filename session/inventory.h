#pragma once
// What is in the environment that a command speaks of.

#include <string>
#include <vector>

#include "installer/environment/environment.h"
#include "installer/environment/installed.h"
#include "session/failure.h"
#include "session/session.h"

namespace axle::session {

struct Inventory {
  installer::Environment environment;
  std::vector<installer::InstalledDistribution> distributions;
};

[[nodiscard]] Outcome<Inventory> take_inventory(Session& session);

[[nodiscard]] std::string version_of(const installer::InstalledDistribution& distribution);

}  // namespace axle::session

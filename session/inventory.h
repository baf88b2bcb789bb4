#pragma once
// What is in the environment that a command speaks of.

#include <string>
#include <vector>

#include "installer/environment/environment.h"
#include "installer/environment/installed.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::session {

struct Inventory {
  installer::Environment environment;
  std::vector<installer::InstalledDistribution> distributions;
};

[[nodiscard]] Outcome<Inventory> take_inventory(Session& session);

[[nodiscard]] std::string version_of(const installer::InstalledDistribution& distribution);

/// The names of what it needs here, each once, sorted as `pip show` has them.
[[nodiscard]] std::vector<std::string> needs_of(
    const Inventory& inventory, const installer::InstalledDistribution& distribution);
/// Who needs `name` here.
[[nodiscard]] std::vector<std::string> required_by(const Inventory& inventory,
                                                   const std::string& name);

/// The paths in RECORD; none where it cannot be read.
[[nodiscard]] std::vector<std::string> recorded_files(
    const installer::InstalledDistribution& distribution);

/// "demo==1.0", or "demo @ URL" for what was not installed from an index: as `pip freeze` has it.
[[nodiscard]] std::string pinned_requirement(const installer::InstalledDistribution& distribution);
/// What `pip freeze` leaves out: the tools that environments begin with.
[[nodiscard]] bool is_packaging_tool(const std::string& name,
                                     const installer::Environment& environment);

}  // namespace axle::session

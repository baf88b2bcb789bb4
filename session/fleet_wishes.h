#pragma once
// What is wished of the choices for several machines together, or for one beyond its best:
// --minimize builds, --best, --budget, and what a project says in their place.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "resolver/fleet/other_choice.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::session {

struct FleetWishes {
  bool fewest_builds = false;
  /// Of each machine, in bytes; nullopt: no limit. What is stated for one machine counts more.
  std::optional<std::uint64_t> budget = {};
  /// It was given on the command line, where it counts more than anything.
  bool budget_given = false;

  [[nodiscard]] bool any() const { return fewest_builds || budget; }
};

/// What the options say, else `stated`. Errors: usage, for another word than `builds`, a size that
/// is none, or --minimize beside --best.
[[nodiscard]] Outcome<FleetWishes> read_fleet_wishes(const Arguments& arguments,
                                                     FleetWishes stated = {});

struct FleetMachine {
  std::string name;  ///< "class train", for what is said of it
  std::optional<std::uint64_t> budget = {};
};

/// What each machine does without; empty for one that nothing fits at all. Warns where a machine
/// gets a build for less than its best one is for, and where a budget could not be checked. Error
/// of a machine: exit code 3: nothing is within its budget.
[[nodiscard]] std::vector<Outcome<resolver::WithheldBuilds>> withheld_builds(
    const std::vector<FleetMachine>& machines, const FleetWishes& wishes,
    const resolver::SolveWithout& solve, Report& report);

}  // namespace axle::session

#pragma once
// What `--for WHAT` means: a recorded profile, a shipped name, facts inline, or a name with facts
// added.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "detect/record/recording.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "machines/completion.h"
#include "machines/overrides.h"
#include "machines/profile.h"

namespace axle::machines {

struct NamedMachine {
  std::string name;  ///< as written by the user
  detect::Machine machine;
  /// The recording that `machine` was read from, if no facts were added to it.
  std::optional<detect::Recording> recording = {};
  ProfileOrigin origin = {};             ///< of the profile; empty if facts were stated or added
  std::vector<Override> overrides = {};  ///< that replaced facts of this machine
};

/// `what` is a profile file, a folder of profiles (a fleet: several results), a shipped name
/// ("h100"), inline facts ("nvidia:sm=90,driver=570.26;x86_64:v4"), or a name with facts added
/// ("h100;nvidia:driver=550.54"). Facts that are not stated remain unknown; the defaults (Linux,
/// x86_64, glibc 2.28; aarch64 for a Jetson, a Grace or a GB10; the newest backend's minimum
/// driver) are reported. Errors: not_found for an unknown name or fact (the nearest known ones in
/// the hint; the command line makes it a usage error) and for facts that contradict each other,
/// malformed/unsupported for an invalid profile
/// file, conflict for a machine that contradicts `stated`.
[[nodiscard]] Result<std::vector<NamedMachine>> select_machines(
    std::string_view what, Report& report, const PlatformFacts* stated = nullptr);

/// Shipped names, sorted.
[[nodiscard]] std::vector<std::string> shipped_names();

/// What they stand for, in that order; nothing is assumed of what is not stated. Of a GPU's name
/// the origin is empty. Errors: as of select_machines.
[[nodiscard]] Result<std::vector<NamedMachine>> shipped_machines();

}  // namespace axle::machines

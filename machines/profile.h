#pragma once
// Machine profiles: one machine as a JSON file, written by `variant detect --profile` and read by
// `--for FILE`. A profile contains the machine's answers (a recording), which each version of
// detection interprets again, or states the facts themselves.

#include <optional>
#include <string>
#include <string_view>

#include "detect/machine.h"
#include "detect/record/recording.h"
#include "foundation/report/error.h"

namespace axle::machines {

/// The origin of a profile: captured on a machine, or synthesised from documents.
struct ProfileOrigin {
  std::string kind;    ///< "captured" or "synthesised"
  std::string source;  ///< program and version, or the documents
  std::string date;    ///< ISO date; may be empty if nothing was captured
};

struct Profile {
  detect::Machine machine;  ///< the stated facts; empty if there is a recording
  ProfileOrigin origin;
  std::optional<detect::Recording> recording = {};
};

/// The machine of a profile: its recording interpreted by today's detection, else the facts.
[[nodiscard]] detect::Machine replay_profile(const Profile& profile);

/// Canonical JSON of schema 2: sorted if the order is irrelevant, one trailing newline. A recording
/// is written unchanged: call scrub() before (detect/record/scrub.h).
[[nodiscard]] std::string render_profile(const Profile& profile);

/// Inverse of render_profile. `where` is the file named in errors. Errors: malformed (not JSON,
/// unknown key, wrong type, no origin since schema 2), unsupported (a newer schema version).
[[nodiscard]] Result<Profile> parse_profile(std::string_view json, std::string_view where);

/// Only the facts as JSON text, the `detect --json` body keys: cpu, gpus, drivers, os, libc,
/// problems.
[[nodiscard]] std::string render_machine_json(const detect::Machine& machine);

}  // namespace axle::machines

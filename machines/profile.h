#pragma once
// Machine profiles: one machine as a JSON file, written by `variant detect --profile` and read back
// by `--for FILE`. A profile holds what the machine answered (a recording), which each version of
// detection reads again, or states the facts themselves.

#include <optional>
#include <string>
#include <string_view>

#include "detect/machine.h"
#include "detect/record/recording.h"
#include "foundation/report/error.h"

namespace axle::machines {

/// How a profile came to be: captured on a machine, or synthesised from documents.
struct ProfileOrigin {
  std::string kind;    ///< "captured" or "synthesised"
  std::string source;  ///< program and version, or the documents
  std::string date;    ///< ISO date; may be empty where nothing was captured
};

struct Profile {
  detect::Machine machine;  ///< the facts that are stated; empty where there is a recording
  ProfileOrigin origin;
  std::optional<detect::Recording> recording = {};
};

/// The machine of a profile: its recording as detection reads it today, else the facts.
[[nodiscard]] detect::Machine replay_profile(const Profile& profile);

/// Canonical JSON of schema 2: sorted where order means nothing, one trailing newline. A recording
/// is written as it is: scrub() it before (detect/record/scrub.h).
[[nodiscard]] std::string render_profile(const Profile& profile);

/// Inverse of render_profile. `where` is the file named in errors.
/// Errors: malformed (not JSON, unknown key, wrong type, from schema 2 on no origin), unsupported
/// (a newer schema version).
[[nodiscard]] Result<Profile> parse_profile(std::string_view json, std::string_view where);

/// The facts alone as JSON text, the `detect --json` body keys: cpu, gpus, drivers, os, libc,
/// problems.
[[nodiscard]] std::string render_facts(const detect::Machine& machine);

}  // namespace axle::machines

#pragma once
// Machine profiles: the facts of one machine as a JSON file, written by `variant detect --profile`
// and read back by `--for FILE`.

#include <string>
#include <string_view>

#include "detect/machine.h"
#include "report/error.h"

namespace axle::machines {

/// How a profile came to be: captured on a machine, or synthesised from documents.
struct ProfileOrigin {
  std::string kind;    ///< "captured" or "synthesised"
  std::string source;  ///< program and version, or the documents
  std::string date;    ///< ISO date, may be empty
};

struct Profile {
  detect::Machine machine;
  ProfileOrigin origin;
};

/// Canonical JSON: sorted where order means nothing, one trailing newline. No serials, no host
/// name.
[[nodiscard]] std::string render_profile(const Profile& profile);

/// Inverse of render_profile. `where` is the file named in errors.
/// Errors: malformed (not JSON, unknown key, wrong type), unsupported (a newer schema version).
[[nodiscard]] Result<Profile> parse_profile(std::string_view json, std::string_view where);

/// The facts alone as JSON text, the `detect --json` body keys: cpu, gpus, drivers, os, libc,
/// problems.
[[nodiscard]] std::string render_facts(const detect::Machine& machine);

}  // namespace axle::machines

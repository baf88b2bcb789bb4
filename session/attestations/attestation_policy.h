#pragma once
// What a user requires of attestations (PEP 740), and whom they trust.

#include <cstdint>
#include <map>
#include <string>

#include "session/command_failure.h"
#include "session/options.h"
#include "session/settings/axle_config.h"

namespace axle::session {

enum class Attestations : std::uint8_t {
  off,      ///< nothing is looked at
  warn,     ///< what does not pass is reported
  require,  ///< what does not pass is not installed
};

struct AttestationPolicy {
  Attestations mode = Attestations::off;
  std::string origin;        ///< who says so; empty: nobody
  std::string trusted_root;  ///< a path; empty: none is named
  std::string trusted_root_origin;
  /// Required, whatever the mode is: from the configuration.
  std::map<std::string, ExpectedPublisher, std::less<>> publishers;

  [[nodiscard]] bool asks_for_nothing() const {
    return mode == Attestations::off && publishers.empty();
  }
  [[nodiscard]] bool requires_for(std::string_view name) const {
    return mode == Attestations::require || publishers.contains(name);
  }
};

/// --attestations, else AXLE_ATTESTATIONS, else the strictest that the project or the user's file
/// says. --trusted-root, AXLE_TRUSTED_ROOT, the user's file, the project. Publishers of both files,
/// the user's first; none with "off" on the command line or in the variable, which is reported.
/// Errors: usage, for a word or file that is not valid, and where a trusted root is needed and not
/// named.
[[nodiscard]] Outcome<AttestationPolicy> read_attestation_policy(const Arguments& arguments,
                                                                 Report& report);

}  // namespace axle::session

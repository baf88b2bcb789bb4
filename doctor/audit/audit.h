#pragma once
// One run of `variant audit`: what is audited, against which machines, and what was found.

#include <string>
#include <vector>

#include "doctor/audit/audited.h"
#include "doctor/finding.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::doctor {

struct Audit {
  std::vector<Audited> audited;
  std::vector<std::string> machines;  ///< of --for
  Findings findings;                  ///< sorted
};

/// `targets`: wheels, folders, images, or the word "installed". Errors: usage for something that is
/// none of them; a file that cannot be read. All other problems are findings.
[[nodiscard]] session::Outcome<Audit> audit(session::Session& session,
                                            const std::vector<std::string>& targets);

}  // namespace axle::doctor

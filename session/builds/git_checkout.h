#pragma once
// Repositories of git: `git` gets them, with the user's own configuration and keys. What belongs to
// a URL's login reaches it in variables, because other users can read the command line.

#include <chrono>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "resolver/request/source_url.h"
#include "session/settings/settings.h"

namespace axle::session {

struct GitSettings {
  const Settings& settings;
  std::chrono::milliseconds time_limit;  ///< of each step
  Report& report;
};

/// The repository of `source` in the new folder `folder`, with its submodules, at the revision that
/// is asked for, as pip has it: a branch, else a tag, else a commit. Returns the commit's id.
/// Errors: not_found (git, or the revision), unsupported (git failed), io.
[[nodiscard]] Result<std::string> check_out(const resolver::SourceUrl& source,
                                            const std::string& folder, const GitSettings& settings);

}  // namespace axle::session

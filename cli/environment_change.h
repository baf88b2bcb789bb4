#pragma once
// From a resolution to a changed environment: what install and sync have in common.

#include <chrono>
#include <expected>
#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "foundation/report/error.h"
#include "installer/store/wheel_facts.h"
#include "installer/transaction/changes.h"
#include "plan/resolution.h"
#include "session/command_failure.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

struct EnvironmentChange {
  session::Workspace& workspace;
  std::chrono::steady_clock::time_point began;
  /// A resolution with the wheels' own METADATA, where that differs from what they were chosen by.
  std::function<Result<plan::Resolution>()> again;
  /// Called with what the wheels say before anything is changed; null: nobody asks.
  std::function<session::Outcome<void>(const plan::Resolution& resolution,
                                       installer::WheelFactsByUrl& facts)>
      before = {};
};

/// Plans the changes for `resolution`, which is what is planned in the end, and applies them, or
/// only foresees them with --dry-run. Error: the exit code of a failure that was reported; files in
/// the way are one.
[[nodiscard]] std::expected<installer::Changes, int> carry_out(const session::Session& session,
                                                               const EnvironmentChange& change,
                                                               plan::Resolution& resolution,
                                                               Output& output);

/// What was changed or, in a dry run, would be: packages, installed, removed, kept, …
[[nodiscard]] nlohmann::ordered_json installation_json(const plan::Resolution& resolution,
                                                       const installer::Changes& changes,
                                                       bool dry_run);

/// What an installation takes from elsewhere and what the store spares it, in bytes as the index
/// gives them.
struct Volume {
  std::size_t files = 0;  ///< that are downloaded
  std::uint64_t downloaded = 0;
  std::uint64_t stored = 0;
  bool whole = true;  ///< the index gives the size of each
};

/// The last line on a terminal: "12 packages in 3.4 s, 34.0 MB downloaded, 900 MB were in the
/// store"; as events each package, too.
void note_end(const installer::Changes& changes, const Volume& volume,
              std::chrono::steady_clock::time_point began, Output& output);

}  // namespace axle::cli

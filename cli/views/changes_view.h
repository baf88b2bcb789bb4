#pragma once
// What a change of an environment did, or would do.

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "installer/transaction/changes.h"

namespace axle::cli {

/// {name, version, variant}.
[[nodiscard]] nlohmann::ordered_json change_json(const installer::Change& change);
[[nodiscard]] nlohmann::ordered_json changes_json(const std::vector<installer::Change>& changes);
/// As with pip and uv, nothing with --quiet.
[[nodiscard]] std::string render_changes(const installer::Changes& changes, const Output& output);

/// Paths whose files are in the way, and between whom.
[[nodiscard]] nlohmann::ordered_json conflicts_json(
    const std::vector<installer::FileConflict>& conflicts);
/// The first conflict is the error of the command; the others are reported before. Returns the exit
/// code.
int refuse_conflicts(const installer::Changes& changes,
                     std::function<nlohmann::ordered_json()> json, Output& output);

/// Files in whose place those of other packages are.
[[nodiscard]] nlohmann::ordered_json overwritten_json(
    const std::vector<installer::OverwrittenPath>& overwritten);
/// A note for each two packages.
void note_overwritten(const installer::Changes& changes, Output& output);

}  // namespace axle::cli

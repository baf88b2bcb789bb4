#pragma once
// What a lock has for its classes, and how it differs from the one before.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "plan/lock/lock.h"
#include "session/projects/project_lock.h"

namespace axle::cli {

/// A line a class: its machine and Python, how many packages and bytes, and when it holds.
[[nodiscard]] std::string render_classes(const plan::Lock& lock, const Output& output);
/// [{name, machine, python, holds, packages, bytes}]
[[nodiscard]] nlohmann::ordered_json classes_json(const plan::Lock& lock);

/// "+ demo 1.0", "- demo 1.0", "~ demo 1.0 -> 2.0", a line each.
[[nodiscard]] std::string render_lock_changes(const std::vector<session::LockedChange>& changes,
                                              const Output& output);
/// [{name, before, after}]
[[nodiscard]] nlohmann::ordered_json lock_changes_json(
    const std::vector<session::LockedChange>& changes);

/// Packages by classes: which build each class gets, of what size, and why. Packages that are the
/// same file in every class are one line.
[[nodiscard]] std::string render_volumes(const plan::Lock& lock, const Output& output);
[[nodiscard]] std::string render_coverage(const plan::Lock& lock, const Output& output);
/// [{name, builds: [{version, variant, file, bytes, because, classes}], without: [class]}]
[[nodiscard]] nlohmann::ordered_json coverage_json(const plan::Lock& lock);

}  // namespace axle::cli

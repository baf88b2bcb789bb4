#pragma once
// What the project of a pyproject.toml requires: `-r pyproject.toml`, `--extra NAME`,
// `--all-extras`, with uv's meaning.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "session/options.h"
#include "session/requests/requirements_file.h"

namespace axle::session {

/// By its name, as uv does.
[[nodiscard]] bool is_project_file(std::string_view path);

struct RequestedExtras {
  std::vector<std::string> names;  ///< as written
  bool all = false;
};

[[nodiscard]] RequestedExtras requested_extras(const Arguments& arguments);

/// Whether one of the requested files is `file`, and its extra `name` is wanted.
[[nodiscard]] bool is_extra_requested(const std::string& file, std::string_view name,
                                      const Arguments& arguments);

/// Adds `dependencies` of [project] of each of `files`, and those of its optional ones that are
/// requested; an extra may name others of its own project (`all = ["demo[fast]"]`). Errors:
/// not_found/io for a file; not_found for an extra that none of them has; malformed, also for
/// dependencies that only a build finds out (`dynamic`).
[[nodiscard]] Result<std::vector<FileRequirement>> read_project_requirements(
    const std::vector<std::string>& files, const RequestedExtras& extras);

}  // namespace axle::session

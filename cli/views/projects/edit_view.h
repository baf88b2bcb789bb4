#pragma once
// What was changed in a project's pyproject.toml.

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "session/projects/locked_edit.h"
#include "session/projects/project_edit.h"

namespace axle::cli {

/// The changes of one list.
struct ListEdit {
  session::RequirementList list;
  std::vector<std::string> requirements;  ///< PEP 508
};

/// "+ torch>=2.15.0", a line each, under the name of the list where that is not `dependencies`.
[[nodiscard]] std::string render_edits(const std::vector<ListEdit>& edits, char sign,
                                       const Output& output);
/// [{list, name, requirement}]
[[nodiscard]] nlohmann::ordered_json edits_json(const std::vector<ListEdit>& edits);

/// What became of the lock.
[[nodiscard]] std::string render_locked(const session::LockedEdit& locked, const Output& output);
/// {classes, changes}
[[nodiscard]] nlohmann::ordered_json locked_json(const session::LockedEdit& locked);

}  // namespace axle::cli

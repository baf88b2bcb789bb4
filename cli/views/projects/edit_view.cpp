#include "cli/views/projects/edit_view.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/views/projects/lock_view.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using Kind = session::RequirementList::Kind;

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::extra:
      return "extra";
    case Kind::group:
      return "group";
    case Kind::dependencies:
      break;
  }
  return "dependencies";
}

}  // namespace

std::string render_edits(const std::vector<ListEdit>& edits, char sign, const Output& output) {
  std::string text;
  for (const auto& [list, requirements] : edits) {
    for (const std::string& one : requirements) {
      const std::string line = fmt::format("{} {}", sign, one);
      text += output.paint(sign == '+' ? Style::good : Style::bad, line);
      if (list.kind != Kind::dependencies)
        text += fmt::format("  ({} {})", kind_name(list.kind), list.name);
      text += '\n';
    }
  }
  return text;
}

ordered_json edits_json(const std::vector<ListEdit>& edits) {
  ordered_json rows = ordered_json::array();
  for (const auto& [list, requirements] : edits) {
    for (const std::string& one : requirements) {
      ordered_json row = {{"list", kind_name(list.kind)}};
      row["name"] = list.kind == Kind::dependencies ? ordered_json() : ordered_json(list.name);
      row["requirement"] = one;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::string render_locked(const session::LockedEdit& locked, const Output& output) {
  if (locked.changes.empty()) return {};
  return fmt::format("{}:\n{}", plan::lock_filename, render_lock_changes(locked.changes, output));
}

ordered_json locked_json(const session::LockedEdit& locked) {
  return {{"classes", classes_json(locked.lock)}, {"changes", lock_changes_json(locked.changes)}};
}

}  // namespace axle::cli

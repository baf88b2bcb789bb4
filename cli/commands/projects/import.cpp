// import: another tool's project becomes one of ours.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/project_file_commands.h"
#include "cli/views/projects/edit_view.h"
#include "foundation/documents/toml_reader.h"
#include "foundation/text/quote.h"
#include "session/input_file.h"
#include "session/projects/imported_project.h"
#include "session/projects/locked_edit.h"
#include "session/projects/new_project.h"
#include "session/projects/project.h"
#include "session/projects/project_edit.h"
#include "session/session.h"
#include "session/workspace.h"
#include "wheel/requirement.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;
using session::ImportedProject;
using session::ProjectEdit;
using session::RequirementList;

/// The pyproject.toml of this folder before the import; its text is empty if there is none.
struct Before {
  ProjectEdit edit;
  bool is_project = false;  ///< it has [project]
};

session::Outcome<Before> read_before() {
  std::error_code error;
  Before before;
  before.edit.file = (fs::current_path(error) / "pyproject.toml").string();
  if (!fs::exists(before.edit.file, error)) return before;
  auto text = session::read_input(before.edit.file);
  if (!text) return session::failed(std::move(text).error());
  const auto document = documents::parse_toml(*text, before.edit.file);
  if (!document) return session::misconfigured(document.error());
  before.is_project = document->contains("project");
  if (before.is_project) {
    if (const auto project = session::parse_project(*text, before.edit.file); !project)
      return session::misconfigured(project.error());
  }
  before.edit.old_text = *text;
  before.edit.new_text = *std::move(text);
  return before;
}

/// --name, what the file says, or the folder.
session::Outcome<std::string> name_of_import(const session::Arguments& arguments,
                                             const ImportedProject& imported,
                                             const std::string& file) {
  const bool stated = arguments.has(session::Opt::project_name);
  std::string name = stated ? arguments.value(session::Opt::project_name) : imported.name;
  if (!stated && name.empty())
    name = session::name_for_folder(fs::path(file).parent_path().filename().string());
  if (wheel::is_valid_name(name)) return name;
  return session::misused(fmt::format("{} is not a valid name of a project", text::quote(name)),
                          "name it: --name NAME");
}

/// Adds [project] to what is there.
session::Outcome<void> add_table(session::Session& session, const ImportedProject& imported,
                                 ProjectEdit& edit) {
  const auto name = name_of_import(session.arguments(), imported, edit.file);
  if (!name) return std::unexpected(name.error());
  std::string requires_python = imported.requires_python;
  if (requires_python.empty()) {
    const auto base = session::find_base_interpreter(session);
    if (!base) return std::unexpected(base.error());
    requires_python =
        fmt::format(">={}.{}", base->python_version.release[0], base->python_version.release[1]);
  }
  const std::string table = session::render_new_project({*name, requires_python});
  const bool ended = edit.new_text.empty() || edit.new_text.ends_with('\n');
  edit.new_text +=
      fmt::format("{}{}{}", ended ? "" : "\n", edit.new_text.empty() ? "" : "\n", table);
  return {};
}

/// All that the file requires, by list.
std::vector<ListEdit> wanted_edits(const ImportedProject& imported) {
  std::vector<ListEdit> edits;
  if (!imported.dependencies.empty())
    edits.push_back({{RequirementList::Kind::dependencies, {}}, imported.dependencies});
  for (const auto& [name, requirements] : imported.extras)
    edits.push_back({{RequirementList::Kind::extra, name}, requirements});
  for (const auto& [name, requirements] : imported.groups)
    edits.push_back({{RequirementList::Kind::group, name}, requirements});
  return edits;
}

/// What was added of them.
session::Outcome<std::vector<ListEdit>> add_all(const std::vector<ListEdit>& wanted,
                                                ProjectEdit& edit) {
  std::vector<ListEdit> done;
  for (const auto& [list, requirements] : wanted) {
    edit.changed.clear();
    for (const std::string& one : requirements) {
      if (auto added = session::add_requirement(edit, list, one); !added)
        return session::failed(std::move(added).error());
    }
    if (!edit.changed.empty()) done.push_back({list, edit.changed});
  }
  return done;
}

/// {name: [version, …]}
nlohmann::ordered_json pins_json(const session::Pins& pins) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::object();
  for (const auto& [name, versions] : pins) {
    for (const wheel::Version& one : versions) rows[name].push_back(wheel::render_version(one));
  }
  return rows;
}

}  // namespace

int run_import(session::Session& session, Output& output) {
  const std::string& file = session.arguments().positionals.front();
  auto imported = session::read_import(file, session::remote_files(session, true));
  if (!imported) return output.failure(session::failed(std::move(imported).error()).error());
  auto before = read_before();
  if (!before) return output.failure(before.error());
  ProjectEdit& edit = before->edit;
  if (!before->is_project) {
    if (auto made = add_table(session, *imported, edit); !made) return output.failure(made.error());
  }
  // A lock that does not say what was asked for adds nothing to a project that does.
  if (before->is_project && session::import_kind(file) == session::ImportKind::pylock) {
    imported->dependencies.clear();
    imported->remarks.clear();
  }
  const auto edits = add_all(wanted_edits(*imported), edit);
  if (!edits) return output.failure(edits.error());
  for (Remark& remark : imported->remarks) output.add(std::move(remark));
  std::optional<session::LockedEdit> locked;
  if (session.arguments().has(session::Opt::edit_alone)) {
    if (auto written = session::write_edit(edit); !written)
      return output.failure(session::failed(std::move(written).error()).error());
  } else {
    auto done = session::lock_edit(session, edit, nullptr, imported->pins, output);
    if (!done) return output.failure(done.error());
    locked = *std::move(done);
  }
  output.change_was_made();
  return output.answer({.text =
                            [&] {
                              std::string text = render_edits(*edits, '+', output);
                              if (locked) text += render_locked(*locked, output);
                              return text;
                            },
                        .json = [&]() -> nlohmann::ordered_json {
                          nlohmann::ordered_json out = {{"project", edit.file},
                                                        {"added", edits_json(*edits)},
                                                        {"pins", pins_json(imported->pins)}};
                          if (locked) out.update(locked_json(*locked));
                          return out;
                        }});
}

}  // namespace axle::cli

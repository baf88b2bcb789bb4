// add, remove: requirements of a project's pyproject.toml, its lock and its environment.
#include <algorithm>
#include <expected>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/project_file_commands.h"
#include "cli/projects/locked_project.h"
#include "cli/projects/synchronisation.h"
#include "cli/views/changes_view.h"
#include "cli/views/projects/edit_view.h"
#include "foundation/text/nearest.h"
#include "session/kept_answers/satisfied_sync.h"
#include "session/projects/class_choice.h"
#include "session/projects/imported_project.h"
#include "session/projects/locked_edit.h"
#include "session/projects/project.h"
#include "session/projects/project_edit.h"
#include "session/requests/package_place.h"
#include "session/session.h"
#include "session/workspace.h"
#include "wheel/requirement.h"

namespace axle::cli {

namespace {

using session::Opt;
using session::RequirementList;

/// --extra, --group or --dev; else the dependencies.
session::Outcome<RequirementList> named_list(const session::Arguments& arguments) {
  const int given = static_cast<int>(arguments.has(Opt::project_extra)) +
                    static_cast<int>(arguments.has(Opt::project_group)) +
                    static_cast<int>(arguments.has(Opt::dev));
  if (given > 1)
    return session::misused("--extra, --group and --dev name different lists",
                            "give one of them, and call the command once for each list");
  RequirementList list;
  if (arguments.has(Opt::dev)) list = {RequirementList::Kind::group, "dev"};
  if (arguments.has(Opt::project_extra))
    list = {RequirementList::Kind::extra, arguments.value(Opt::project_extra)};
  if (arguments.has(Opt::project_group))
    list = {RequirementList::Kind::group, arguments.value(Opt::project_group)};
  const bool named = list.kind != RequirementList::Kind::dependencies;
  if (named && !wheel::is_valid_name(list.name))
    return session::misused(
        fmt::format("`{}` is not a valid name of an extra or a group", list.name),
        "a name consists of letters, digits, -, _ and ., and begins and ends "
        "with a letter or a digit");
  return list;
}

/// What is to be added, as requirements that can stand in a project.
session::Outcome<std::vector<std::string>> named_requirements(session::Session& session) {
  const session::Arguments& arguments = session.arguments();
  std::vector<std::string> texts;
  for (const std::string& text : arguments.positionals) {
    const auto place = session::parse_package_place(text);
    if (!place) {
      texts.push_back(text);
      continue;
    }
    const auto requirement = session::requirement_at(*place);
    if (!requirement)
      return session::misused(requirement.error().message, requirement.error().hint);
    if (!requirement->url.starts_with("http") || requirement->name.empty())
      return session::misused(
          fmt::format("`{}` is the place of a package, which other machines do not have", text),
          "add its name, and say in [tool.uv.sources] where it is");
    texts.push_back(wheel::render_requirement(*requirement));
  }
  for (const std::string& file : arguments.values(Opt::requirement)) {
    if (session::import_kind(file) != session::ImportKind::requirements)
      return session::misused(fmt::format("-r {}: that is no requirements file", file),
                              "`variant import` reads it");
    auto imported = session::read_import(file, session::remote_files(session, true));
    if (!imported) return session::failed(std::move(imported).error());
    for (Remark& remark : imported->remarks) session.report().add(std::move(remark));
    std::ranges::move(imported->dependencies, std::back_inserter(texts));
  }
  if (texts.empty())
    return session::misused("nothing to add", "name a package, or a file of them with -r FILE");
  return texts;
}

/// Of a `variant sync` that wants what is in `list`, too. After an addition packages that are not
/// locked stay; after a removal they go.
session::Arguments sync_arguments(session::Arguments arguments, const RequirementList& list,
                                  bool adds) {
  arguments.positionals.clear();
  for (const Opt of_edit : {Opt::requirement, Opt::project_extra, Opt::project_group, Opt::dev})
    arguments.remove(of_edit);
  if (list.kind == RequirementList::Kind::extra) arguments.add(Opt::extra, list.name);
  if (list.kind == RequirementList::Kind::group) arguments.add(Opt::group, list.name);
  if (adds) arguments.add(Opt::inexact, "");
  return arguments;
}

/// The environment of this machine follows the lock. nullopt: it belongs to none of the classes,
/// and a note says so. Error: the exit code of what was reported.
std::expected<std::optional<Synchronised>, int> follow(session::Session& session,
                                                       const plan::Lock& lock, bool changed,
                                                       const RequirementList& list, bool adds,
                                                       Output& output) {
  auto project = session::open_project();
  if (!project) return std::unexpected(output.failure(project.error()));
  session::RunOptions run = output.run();
  session::Session syncing(sync_arguments(session.arguments(), list, adds), run, output,
                           session.pip_section());
  const auto named = named_class(syncing.arguments());
  if (!named) return std::unexpected(output.failure(named.error()));
  auto machine = syncing.machine();
  if (!machine) return std::unexpected(output.failure(machine.error()));
  const auto gpus = syncing.gpu_policy();
  if (!gpus) return std::unexpected(output.failure(gpus.error()));
  const auto verdicts = session::judge_classes(lock, machine->machine, *gpus, nullptr);
  if (!verdicts) return std::unexpected(output.failure(session::failed(verdicts.error()).error()));
  // A class that was named, or whose Python is not here, is refused as by sync.
  if (named->empty() && std::ranges::none_of(*verdicts, &session::ClassVerdict::holds)) {
    output.note(fmt::format("no environment is changed: {}",
                            session::no_class_holds(*verdicts).error.message));
    return std::nullopt;
  }
  session::AnswerKeeper keeper = session::satisfied_sync(syncing);
  auto done = synchronise(syncing, keeper, {*std::move(project), lock}, output);
  if (!done) {
    if (changed)
      output.note(
          fmt::format("pyproject.toml and {} are changed, the environment is not: "
                      "`variant sync` changes it",
                      plan::lock_filename));
    return std::unexpected(done.error());
  }
  return *std::move(done);
}

/// --class names one of the project's.
session::Outcome<void> check_class(const session::Session& session,
                                   const session::ProjectEdit& edit) {
  const auto named = named_class(session.arguments());
  if (!named) return std::unexpected(named.error());
  if (named->empty()) return {};
  const auto project = session::parse_project(edit.old_text, edit.file);
  if (!project) return session::misconfigured(project.error());
  if (project->find_class(*named) != nullptr) return {};
  std::vector<std::string> names;
  for (const session::MachineClass& one : project->classes) names.push_back(one.name);
  return session::misused(fmt::format("the project has no class {}", *named),
                          text::suggest(*named, names, "it has " + text::joined_by_or(names)));
}

/// Writes the change, locks it unless --frozen, and lets the environment follow unless --no-sync.
int carry_out_edit(session::Session& session, session::ProjectEdit& edit,
                   const RequirementList& list, bool adds, Output& output) {
  std::optional<session::LockedEdit> locked;
  std::optional<Synchronised> synchronised;
  if (const auto known = check_class(session, edit); !known) return output.failure(known.error());
  if (edit.is_empty()) {
    if (!output.options().quiet)
      output.note(fmt::format("{}: {} has it already", edit.file, list.shown()));
  } else if (session.arguments().has(Opt::edit_alone)) {
    if (auto written = session::write_edit(edit); !written)
      return output.failure(session::failed(std::move(written).error()).error());
  } else {
    auto done = session::lock_edit(session, edit, adds ? &list : nullptr, {}, output);
    if (!done) return output.failure(done.error());
    locked = *std::move(done);
  }
  if (!edit.is_empty()) output.change_was_made();
  const bool frozen = session.arguments().has(Opt::edit_alone);
  if (!frozen && !session.arguments().has(Opt::no_sync)) {
    // What is there already may not be installed: the command before this one may have failed.
    auto current = edit.is_empty()
                       ? open_locked_project(session, output)
                       : session::Outcome<LockedProject>(LockedProject{{}, locked->lock});
    if (!current) return output.failure(current.error());
    auto followed = follow(session, current->lock, !edit.is_empty(), list, adds, output);
    if (!followed) return followed.error();
    synchronised = *std::move(followed);
    if (synchronised) note_environment(*synchronised, output);
  }
  const std::vector<ListEdit> edits = {{list, edit.changed}};
  return output.answer({.text =
                            [&] {
                              std::string text = render_edits(edits, adds ? '+' : '-', output);
                              if (locked) text += render_locked(*locked, output);
                              if (synchronised)
                                text += render_changes(synchronised->changes, output);
                              return text;
                            },
                        .json = [&]() -> nlohmann::ordered_json {
                          nlohmann::ordered_json out = {
                              {"project", edit.file},
                              {adds ? "added" : "removed", edits_json(edits)}};
                          if (locked) out.update(locked_json(*locked));
                          if (synchronised) out["sync"] = synchronised_json(*synchronised, false);
                          return out;
                        }});
}

}  // namespace

int run_add(session::Session& session, Output& output) {
  const auto list = named_list(session.arguments());
  if (!list) return output.failure(list.error());
  const auto project = session::open_project();
  if (!project) return output.failure(project.error());
  const auto texts = named_requirements(session);
  if (!texts) return output.failure(texts.error());
  session::ProjectEdit edit{project->file, project->text, project->text};
  for (const std::string& text : *texts) {
    auto added = session::add_requirement(edit, *list, text);
    if (added) continue;
    const bool usage =
        added.error().kind == ErrorKind::malformed || added.error().kind == ErrorKind::conflict;
    return output.failure(usage
                              ? session::misused(added.error().message, added.error().hint).error()
                              : session::failed(added.error()).error());
  }
  return carry_out_edit(session, edit, *list, true, output);
}

int run_remove(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto list = named_list(arguments);
  if (!list) return output.failure(list.error());
  if (arguments.positionals.empty())
    return output.failure(session::misused("nothing to remove", "name a package").error());
  const auto project = session::open_project();
  if (!project) return output.failure(project.error());
  session::ProjectEdit edit{project->file, project->text, project->text};
  for (const std::string& name : arguments.positionals) {
    if (!wheel::is_valid_name(name))
      return output.failure(session::misused(fmt::format("`{}` is not the name of a package", name),
                                             "name it without versions, extras and markers")
                                .error());
    if (auto removed = session::remove_requirement(edit, *list, name); !removed)
      return output.failure(session::failed(std::move(removed).error()).error());
  }
  return carry_out_edit(session, edit, *list, false, output);
}

}  // namespace axle::cli

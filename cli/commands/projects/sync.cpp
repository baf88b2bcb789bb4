// sync and run: the environment of a project is made equal to its lock; run then starts a program
// in it.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/environment_change.h"
#include "cli/interruption.h"
#include "cli/locked_project.h"
#include "cli/views/changes_view.h"
#include "foundation/system/program_run.h"
#include "session/changes/environment_changes.h"
#include "session/projects/class_environment.h"
#include "session/projects/lock_file.h"
#include "session/projects/sync_plan.h"
#include "session/session.h"
#include "session/variables.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Opt;

/// What a synchronisation did.
struct Synchronised {
  std::string class_name;
  std::string folder;  ///< of the environment
  bool made = false;
  plan::Resolution resolution;
  installer::Changes changes;
};

ordered_json names_json(const std::vector<plan::ReachedPackage>& packages) {
  ordered_json rows = ordered_json::array();
  for (const plan::ReachedPackage& reached : packages) {
    const plan::LockedPackage& one = *reached.package;
    rows.push_back({{"name", one.name},
                    {"version", wheel::render_version(one.version)},
                    {"variant", one.variant ? ordered_json(*one.variant) : ordered_json()}});
  }
  return rows;
}

/// A dry run without an environment: everything would be installed.
int foresee_all(const session::ClassEnvironment& chosen,
                const std::vector<plan::ReachedPackage>& packages, Output& output) {
  output.note("dry run: nothing was changed");
  return output.answer(
      {.text =
           [&] {
             std::string text =
                 fmt::format("would make {} (Python {}) for class {}\n", chosen.folder,
                             chosen.about->python, chosen.about->name);
             for (const plan::ReachedPackage& one : packages)
               text += fmt::format("+ {} {}\n", one.package->name,
                                   wheel::render_version(one.package->version));
             return text;
           },
       .json = [&]() -> ordered_json {
         return {{"class", chosen.about->name},       {"environment", chosen.folder},
                 {"installed", names_json(packages)}, {"removed", ordered_json::array()},
                 {"kept", ordered_json::array()},     {"dry_run", true}};
       }});
}

/// Errors: exit codes of what was reported.
std::expected<Synchronised, int> synchronise(session::Session& session, Output& output) {
  const auto refused = [&](const session::CommandFailure& failure) {
    return std::unexpected(output.failure(failure));
  };
  const auto began = std::chrono::steady_clock::now();
  expect_change();
  const session::Arguments& arguments = session.arguments();
  auto locked = open_locked_project(session, output);
  if (!locked) return refused(locked.error());
  const session::Project& project = locked->project;
  const auto named = named_class(arguments);
  if (!named) return refused(named.error());
  auto machine = session.machine();
  if (!machine) return refused(machine.error());
  auto chosen = session::choose_class(session, project, locked->lock, machine->machine, *named);
  if (!chosen) return refused(chosen.error());
  const auto wanted = lock_selection(project, locked->lock, arguments);
  if (!wanted) return refused(wanted.error());
  output.detail(fmt::format("class {}: {}", chosen->about->name, chosen->about->holds));
  const bool made = !chosen->there;
  if (made && arguments.has(Opt::dry_run)) {
    const auto opened = session::open_class(locked->lock, chosen->about->name);
    if (!opened) return refused(opened.error());
    const auto packages = plan::locked_closure(locked->lock, chosen->about->name, *wanted,
                                               session::class_markers(*opened));
    if (!packages) return refused(session::failed(packages.error()).error());
    return std::unexpected(foresee_all(*chosen, *packages, output));
  }
  if (const auto there = session::make_environment(*chosen, session); !there)
    return refused(there.error());
  const auto packages =
      plan::locked_closure(locked->lock, chosen->about->name, *wanted, chosen->there->markers);
  if (!packages) return refused(session::failed(packages.error()).error());

  session::Arguments inner = within_environment(arguments, chosen->folder);
  session::RunOptions run = output.run();
  session::Session inside(std::move(inner), run, output, session.pip_section());
  auto workspace = session::open_workspace(inside, session::Purpose::install);
  if (!workspace) return refused(workspace.error());
  auto there = installer::list_installed((*workspace)->environment, output, session.cache_folder());
  if (!there) return refused(session::failed(there.error()).error());
  auto resolution =
      session::plan_sync(project, *packages, *there, sync_wishes(arguments), **workspace, output);
  if (!resolution) return refused(resolution.error());
  if ((*workspace)->attestations != nullptr) {
    if (auto good = (*workspace)->attestations->check(*resolution); !good)
      return refused(session::failed(std::move(good).error()).error());
  }
  const EnvironmentChange change{
      .workspace = **workspace, .began = began, .again = [&]() -> Result<plan::Resolution> {
        return fail(
            ErrorKind::mismatch,
            fmt::format("what a wheel says is not what {} was made by", plan::lock_filename),
            "`variant lock --upgrade` makes it by what the wheels say");
      }};
  auto changes = carry_out(inside, change, *resolution, output);
  if (!changes) return std::unexpected(changes.error());
  if (!arguments.has(Opt::dry_run)) {
    if (const auto noted = session::note_class(*chosen); !noted) return refused(noted.error());
  }
  return Synchronised{.class_name = chosen->about->name,
                      .folder = chosen->folder,
                      .made = made,
                      .resolution = *std::move(resolution),
                      .changes = *std::move(changes)};
}

/// The variables of a shell in which the environment is active.
std::vector<std::pair<std::string, std::string>> active_variables(const std::string& folder) {
  const std::string path = session::variable("PATH");
  return {{"VIRTUAL_ENV", folder}, {"PATH", folder + "/bin" + (path.empty() ? "" : ":" + path)}};
}

}  // namespace

int run_sync(session::Session& session, Output& output) {
  const auto done = synchronise(session, output);
  if (!done) return done.error();
  const bool dry_run = session.arguments().has(Opt::dry_run);
  if (!output.options().quiet)
    output.note(fmt::format("{} {} for class {}", done->made ? "made" : "checked", done->folder,
                            done->class_name));
  return output.answer(
      {.text = [&] { return render_changes(done->changes, output); },
       .json =
           [&] {
             ordered_json out = {{"class", done->class_name}, {"environment", done->folder}};
             out.update(installation_json(done->resolution, done->changes, dry_run));
             return out;
           }});
}

int run_run(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.empty()) {
    return output.failure(
        session::misused("nothing to run", "name a command: `variant run python -V`").error());
  }
  std::string folder;
  if (arguments.has(Opt::no_sync)) {
    const auto locked = read_locked_project(output);
    if (!locked) return output.failure(locked.error());
    const auto named = named_class(arguments);
    if (!named) return output.failure(named.error());
    auto machine = session.machine();
    if (!machine) return output.failure(machine.error());
    auto chosen =
        session::synced_class(session, locked->project, locked->lock, machine->machine, *named);
    if (!chosen) return output.failure(chosen.error());
    folder = chosen->folder;
  } else {
    const auto done = synchronise(session, output);
    if (!done) return done.error();
    if (!(done->changes.installed.empty() && done->changes.removed.empty()))
      output.note(fmt::format("{} is in step with {} for class {}", done->folder,
                              plan::lock_filename, done->class_name));
    folder = done->folder;
  }
  const std::error_code error = system::replace_process({.arguments = arguments.positionals,
                                                         .variables = active_variables(folder),
                                                         .withheld = {"PYTHONHOME"}});
  return output.failure(
      session::failed(
          {ErrorKind::not_found,
           fmt::format("{} cannot be started: {}", arguments.positionals.front(), error.message()),
           fmt::format("programs are looked for in {}/bin, then in PATH", folder)})
          .error());
}

}  // namespace axle::cli

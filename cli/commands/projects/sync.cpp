// sync and run: the environment of a project is made equal to its lock; run then starts a program
// in it.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/kept_answer.h"
#include "cli/projects/locked_project.h"
#include "cli/projects/synchronisation.h"
#include "cli/views/changes_view.h"
#include "foundation/system/program_run.h"
#include "session/kept_answers/satisfied_sync.h"
#include "session/projects/class_environment.h"
#include "session/session.h"
#include "session/settings/project_variables.h"
#include "session/variables.h"

namespace axle::cli {

namespace {

using session::Opt;

/// The variables of a shell in which the environment is active. `depth`: next_run_depth.
std::vector<std::pair<std::string, std::string>> active_variables(const std::string& folder,
                                                                  std::string depth) {
  const std::string path = session::variable("PATH");
  return {{"VIRTUAL_ENV", folder},
          {"PATH", folder + "/bin" + (path.empty() ? "" : ":" + path)},
          {"UV_RUN_RECURSION_DEPTH", std::move(depth)}};
}

}  // namespace

int run_sync(session::Session& session, Output& output) {
  session::AnswerKeeper keeper = session::satisfied_sync(session);
  if (const auto answer = find_kept(keeper, output)) return give(*answer, output);
  const auto locked = open_locked_project(session, output);
  if (!locked) return output.failure(locked.error());
  const auto done = synchronise(session, keeper, *locked, output);
  if (!done) return done.error();
  const bool dry_run = session.arguments().has(Opt::dry_run);
  note_environment(*done, output);
  return output.answer({.text = [&] { return render_changes(done->changes, output); },
                        .json = [&] { return synchronised_json(*done, dry_run); }});
}

int run_run(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.empty()) {
    return output.failure(
        session::misused("nothing to run", "name a command: `variant run python -V`").error());
  }
  auto depth = session::next_run_depth();
  if (!depth) return output.failure(depth.error());
  std::string folder;
  session::AnswerKeeper keeper = session::satisfied_sync(session);
  if (arguments.has(Opt::no_sync)) {
    const auto locked = read_locked_project(arguments, output);
    if (!locked) return output.failure(locked.error());
    const auto named = named_class(arguments);
    if (!named) return output.failure(named.error());
    auto machine = session.machine();
    if (!machine) return output.failure(machine.error());
    auto chosen =
        session::synced_class(session, locked->project, locked->lock, machine->machine, *named);
    if (!chosen) return output.failure(chosen.error());
    folder = chosen->folder;
  } else if (const auto answer = find_kept(keeper, output)) {
    folder = answer->folder;
  } else {
    const auto locked = open_locked_project(session, output);
    if (!locked) return output.failure(locked.error());
    const auto done = synchronise(session, keeper, *locked, output);
    if (!done) return done.error();
    if (!(done->changes.installed.empty() && done->changes.removed.empty()))
      output.note(fmt::format("{} is in step with {} for class {}", done->folder,
                              plan::lock_filename, done->class_name));
    folder = done->folder;
  }
  const std::error_code error =
      system::replace_process({.arguments = arguments.positionals,
                               .variables = active_variables(folder, *std::move(depth)),
                               .withheld = {"PYTHONHOME"}});
  return output.failure(
      session::failed(
          {ErrorKind::not_found,
           fmt::format("{} cannot be started: {}", arguments.positionals.front(), error.message()),
           fmt::format("programs are looked for in {}/bin, then in PATH", folder)})
          .error());
}

}  // namespace axle::cli

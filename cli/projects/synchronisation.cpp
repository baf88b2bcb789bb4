#include "cli/projects/synchronisation.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/environment_change.h"
#include "cli/interruption.h"
#include "cli/kept_answer.h"
#include "cli/views/changes_view.h"
#include "session/changes/environment_changes.h"
#include "session/kept_answers/satisfied_sync.h"
#include "session/projects/class_environment.h"
#include "session/projects/lock_file.h"
#include "session/projects/sync_plan.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Opt;

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

std::string describe(std::string_view what, const std::string& folder,
                     const std::string& class_name) {
  return fmt::format("{} {} for class {}", what, folder, class_name);
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

}  // namespace

std::expected<Synchronised, int> synchronise(session::Session& session,
                                             session::AnswerKeeper& keeper,
                                             const LockedProject& locked, Output& output) {
  const auto refused = [&](const session::CommandFailure& failure) {
    return std::unexpected(output.failure(failure));
  };
  const auto began = std::chrono::steady_clock::now();
  expect_change();
  const session::Arguments& arguments = session.arguments();
  const session::Project& project = locked.project;
  const auto named = named_class(arguments);
  if (!named) return refused(named.error());
  const auto& machine = keeper.machine();
  if (!machine) return refused(machine.error());
  auto chosen = session::choose_class(session, project, locked.lock, machine->machine, *named);
  if (!chosen) return refused(chosen.error());
  const auto wanted = session::read_selection(arguments, locked.lock, project.default_groups);
  if (!wanted) return refused(wanted.error());
  output.detail(fmt::format("class {}: {}", chosen->about->name, chosen->about->holds));
  const bool made = !chosen->there;
  if (made && arguments.has(Opt::dry_run)) {
    const auto opened = session::open_class(locked.lock, chosen->about->name);
    if (!opened) return refused(opened.error());
    const auto packages = plan::locked_closure(locked.lock, chosen->about->name, *wanted,
                                               session::class_markers(*opened));
    if (!packages) return refused(session::failed(packages.error()).error());
    return std::unexpected(foresee_all(*chosen, *packages, output));
  }
  if (const auto there = session::make_environment(*chosen, session); !there)
    return refused(there.error());
  const auto packages =
      plan::locked_closure(locked.lock, chosen->about->name, *wanted, chosen->there->markers);
  if (!packages) return refused(session::failed(packages.error()).error());

  session::Arguments inner = within_environment(arguments, chosen->folder);
  session::RunOptions run = output.run();
  session::Session inside(std::move(inner), run, output, session.pip_section());
  auto workspace = session::open_workspace(inside, session::Purpose::install);
  if (!workspace) return refused(workspace.error());
  auto there = installer::list_installed((*workspace)->environment, output, session.cache_folder(),
                                         installer::Requirements::left_out);
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
    // The environment is what it should be: without the note it is only chosen anew.
    if (const auto noted = session::note_class(*chosen); !noted)
      output.warn(noted.error().error.message);
  }
  // As it is now, with nothing to be done or said.
  const auto is_there = [](const plan::ResolvedPackage& one) { return one.already_installed; };
  if (changes->installed.empty() && changes->removed.empty() && may_be_kept(output) &&
      std::ranges::all_of(resolution->packages, is_there)) {
    session::keep_satisfied_sync(
        keeper,
        {render_changes(*changes, output), describe("checked", chosen->folder, chosen->about->name),
         chosen->folder},
        session, locked.lock, *chosen, **workspace, *there);
  }
  return Synchronised{.class_name = chosen->about->name,
                      .folder = chosen->folder,
                      .made = made,
                      .resolution = *std::move(resolution),
                      .changes = *std::move(changes)};
}

void note_environment(const Synchronised& done, Output& output) {
  output.note(describe(done.made ? "made" : "checked", done.folder, done.class_name));
}

ordered_json synchronised_json(const Synchronised& done, bool dry_run) {
  ordered_json out = {{"class", done.class_name}, {"environment", done.folder}};
  out.update(installation_json(done.resolution, done.changes, dry_run));
  return out;
}

}  // namespace axle::cli

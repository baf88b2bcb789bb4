#include "cli/environment_change.h"

#include <cstdint>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/interruption.h"
#include "cli/views/changes_view.h"
#include "cli/views/decision_view.h"
#include "foundation/text/byte_size.h"
#include "installer/store/store.h"
#include "session/changes/environment_changes.h"
#include "session/other_folders.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// Reports files that are unknown before they are downloaded.
void note_unlisted(const installer::Changes& changes, Output& output) {
  for (const installer::UnlistedWheel& wheel : changes.unlisted) {
    output.note(fmt::format("file conflicts of {} are unknown until it is downloaded: {}",
                            wheel.package, wheel.reason));
  }
}

/// To be asked before anything is downloaded.
Volume volume_of(const plan::Resolution& resolution, const session::ChosenStore& store) {
  Volume volume;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (package.already_installed) continue;
    const bool stored = installer::may_be_stored(store.folder, package) ||
                        installer::may_be_stored(store.read_only, package);
    if (!stored && package.url.starts_with("file:")) continue;
    volume.whole = volume.whole && package.size.has_value();
    (stored ? volume.stored : volume.downloaded) += package.size.value_or(0);
    if (!stored) ++volume.files;
  }
  return volume;
}

/// Byte code is that of an interpreter that runs.
bool compiles_byte_code(const session::Workspace& workspace, Report& report) {
  const bool asked = workspace.settings.compile_bytecode;
  if (!asked || !workspace.stated.interpreter.is_stated()) return asked;
  report.warn("byte code is not compiled: the modules are for another interpreter");
  return false;
}

}  // namespace

ordered_json installation_json(const plan::Resolution& resolution,
                               const installer::Changes& changes, bool dry_run) {
  ordered_json out = {{"packages", packages_json(resolution.packages)},
                      {"installed", changes_json(changes.installed)},
                      {"removed", changes_json(changes.removed)},
                      {"kept", changes_json(changes.kept)},
                      {"conflicts", conflicts_json(changes.conflicts)},
                      {"overwritten", overwritten_json(changes.overwritten)},
                      {"dry_run", dry_run}};
  if (dry_run) {
    out["unlisted"] = ordered_json::array();
    for (const installer::UnlistedWheel& wheel : changes.unlisted)
      out["unlisted"].push_back({{"package", wheel.package}, {"reason", wheel.reason}});
  }
  return out;
}

void note_end(const installer::Changes& changes, const Volume& volume,
              std::chrono::steady_clock::time_point began, Output& output) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const std::uint64_t downloaded = output.downloads().complete_bytes();
  for (const installer::Change& change : changes.removed)
    output.event("removed", change_json(change));
  for (const installer::Change& change : changes.installed)
    output.event("installed", change_json(change));
  output.event("end", {{"installed", changes.installed.size()},
                       {"removed", changes.removed.size()},
                       {"downloaded", downloaded},
                       {"saved", volume.stored},
                       {"seconds", took.count()}});
  if (output.options().progress != Progress::line || changes.installed.empty()) return;
  std::string line = fmt::format("{} package{} in {:.1f} s", changes.installed.size(),
                                 changes.installed.size() == 1 ? "" : "s", took.count());
  if (downloaded > 0) line += fmt::format(", {} downloaded", text::render_bytes(downloaded));
  if (volume.stored > 0) {
    line += fmt::format(", {}{} were in the store", volume.whole ? "" : "at least ",
                        text::render_bytes(volume.stored));
  }
  output.note(line);
}

std::expected<installer::Changes, int> carry_out(const session::Session& session,
                                                 const EnvironmentChange& change,
                                                 plan::Resolution& resolution, Output& output) {
  const auto refused = [&](const session::CommandFailure& failure) {
    return std::unexpected(output.failure(failure));
  };
  const session::Arguments& arguments = session.arguments();
  const bool dry_run = arguments.has(session::Opt::dry_run);
  const auto store = session::choose_store(session, dry_run, output);
  if (!store) return refused(store.error());
  if (!dry_run) {
    begin_change();
    if (const auto made = session::make_folder(change.workspace.environment); !made)
      return refused(made.error());
  }
  const Volume volume = volume_of(resolution, *store);
  output.expect_downloads(volume.files, volume.whole ? volume.downloaded : 0);
  auto options = session::install_options(change.workspace.settings, *store, session);
  if (!options) return refused(options.error());
  options->overwrite = arguments.has(session::Opt::overwrite);
  options->compiles_byte_code = compiles_byte_code(change.workspace, output);
  installer::WheelFactsByUrl facts;
  if (change.before) options->facts = &facts;
  options->verify_store =
      arguments.has(session::Opt::reinstall) || arguments.has(session::Opt::reinstall_package);
  auto changes =
      session::plan_as_wheels_say(dry_run ? installer::foresee_changes : installer::plan_changes,
                                  change.workspace, resolution, *options, change.again, output);
  if (!changes) return refused(changes.error());
  if (dry_run) {
    note_unlisted(*changes, output);
    output.note("dry run: nothing was changed");
  }
  if (!changes->conflicts.empty()) {
    const auto known = [&]() -> ordered_json {
      if (dry_run) return installation_json(resolution, *changes, dry_run);
      return {{"conflicts", conflicts_json(changes->conflicts)}};
    };
    return std::unexpected(refuse_conflicts(*changes, known, output));
  }
  note_overwritten(*changes, output);
  if (change.before) {
    if (const auto done = change.before(resolution, facts); !done) return refused(done.error());
  }
  if (auto done = installer::apply(*changes, output); !done)
    return refused(session::failed(std::move(done).error()).error());
  if (!dry_run && !(changes->installed.empty() && changes->removed.empty()))
    output.change_was_made();
  if (!dry_run) note_end(*changes, volume, change.began, output);
  return *std::move(changes);
}

}  // namespace axle::cli

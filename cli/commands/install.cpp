#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/abi_check.h"
#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/views/changes_view.h"
#include "cli/views/decision_view.h"
#include "cli/views/installation_report.h"
#include "foundation/text/byte_size.h"
#include "installer/store/store.h"
#include "installer/transaction/changes.h"
#include "resolver/solver/solver.h"
#include "session/changes/environment_changes.h"
#include "session/changes/refit.h"
#include "session/other_folders.h"
#include "session/output_file.h"
#include "session/requests/read_requests.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// What an installation changed or, in a dry run, would change.
ordered_json install_json(const plan::Resolution& resolution, const installer::Changes& changes,
                          bool dry_run) {
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

/// Reports files that are unknown before they are downloaded.
void note_unlisted(const installer::Changes& changes, Output& output) {
  for (const installer::UnlistedWheel& wheel : changes.unlisted) {
    output.note(fmt::format("file conflicts of {} are unknown until it is downloaded: {}",
                            wheel.package, wheel.reason));
  }
}

/// What an installation resolves, and for which environment.
struct Installation {
  session::Workspace& workspace;
  resolver::Target target;
  std::vector<plan::InstalledPackage> there;
  bool explain;
  std::chrono::steady_clock::time_point began;

  [[nodiscard]] std::expected<plan::Resolution, resolver::Unresolved> resolve(
      Report& report) const {
    return resolver::resolve(workspace.requests, target, there, workspace.sources,
                             workspace.options, report);
  }
  /// What the user requires of the publishers' attestations.
  [[nodiscard]] Result<void> check_attestations(plan::Resolution& resolution) const {
    if (workspace.attestations == nullptr) return {};
    return workspace.attestations->check(resolution);
  }
};

/// With the data about the packages that is known despite the error.
int report_unresolved(const resolver::Unresolved& unresolved, const Installation& installation,
                      Output& output) {
  const session::CommandFailure failure = session::failed_to_resolve(unresolved).error();
  std::vector<resolver::Explanation> misfits;
  if (unresolved.kind == ErrorKind::unsupported)
    misfits = session::explain_misfits(installation.workspace, installation.target);
  const auto text = [&] {
    std::string all;
    if (!installation.explain) return all;
    for (const resolver::Explanation& misfit : misfits) all += render_explanation(misfit, output);
    return all + render_conflict(unresolved.conflict, output);
  };
  const auto json = [&] {
    ordered_json all = ordered_json::object();
    if (unresolved.kind == ErrorKind::unsupported) all["packages"] = explanations_json(misfits);
    ordered_json more = unresolved_json(unresolved);
    if (!more.is_null()) all["error"] = std::move(more);
    return all;
  };
  return output.failure(failure, {.text = text, .json = json});
}

void note_choices(const std::vector<plan::ResolvedPackage>& packages, Output& output) {
  for (const plan::ResolvedPackage& package : packages) {
    if (package.variant && !package.already_installed && !package.decision.chosen_because.empty())
      output.note(plan::render_package(package) + ": " + package.decision.chosen_because);
  }
}

std::string render_decisions(const std::vector<plan::ResolvedPackage>& packages,
                             const Output& output) {
  std::string text;
  for (const plan::ResolvedPackage& package : packages) {
    if (package.already_installed) continue;
    text += render_answer(package, output) +
            render_decision(package.decision, package.variant.value_or(""), output);
  }
  return text;
}

/// What an installation takes from elsewhere and what the store spares it, in bytes as the index
/// gives them.
struct Volume {
  std::size_t files = 0;  ///< that are downloaded
  std::uint64_t downloaded = 0;
  std::uint64_t stored = 0;
  bool whole = true;  ///< the index gives the size of each
};

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

/// The last line on a terminal: "12 packages in 3.4 s, 34.0 MB downloaded, 900 MB were in the
/// store"; as events each package, too.
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

/// Byte code is that of an interpreter that runs.
bool compiles_byte_code(const session::Workspace& workspace, Report& report) {
  const bool asked = workspace.settings.compile_bytecode;
  if (!asked || !workspace.stated.interpreter.is_stated()) return asked;
  report.warn("byte code is not compiled: the modules are for another interpreter");
  return false;
}

/// Plans the changes for `resolution` and applies or shows them.
int carry_out(const session::Session& session, const Installation& installation,
              plan::Resolution resolution, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const bool dry_run = arguments.has(session::Opt::dry_run);
  const auto store = session::choose_store(session, dry_run, output);
  if (!store) return output.failure(store.error());
  if (!dry_run) begin_change();
  if (!dry_run) {
    if (const auto made = session::make_folder(installation.workspace.environment); !made)
      return output.failure(made.error());
  }
  const Volume volume = volume_of(resolution, *store);
  output.expect_downloads(volume.files, volume.whole ? volume.downloaded : 0);
  auto chosen = session::install_options(installation.workspace.settings, *store, session);
  if (!chosen) return output.failure(chosen.error());
  installer::InstallOptions& options = *chosen;
  options.overwrite = arguments.has(session::Opt::overwrite);
  options.compiles_byte_code = compiles_byte_code(installation.workspace, output);
  installer::WheelFactsByUrl facts;
  if (arguments.has(session::Opt::report)) options.facts = &facts;
  options.verify_store =
      arguments.has(session::Opt::reinstall) || arguments.has(session::Opt::reinstall_package);
  auto changes = session::plan_as_wheels_say(
      dry_run ? installer::foresee_changes : installer::plan_changes, installation.workspace,
      resolution, options,
      [&]() -> Result<plan::Resolution> {
        auto again = installation.resolve(output);
        if (!again) {
          const Error& error = again.error();
          return std::unexpected(error);
        }
        if (auto good = installation.check_attestations(*again); !good)
          return std::unexpected(std::move(good).error());
        return std::move(*again);
      },
      output);
  if (!changes) return output.failure(changes.error());
  if (dry_run) {
    note_unlisted(*changes, output);
    output.note("dry run: nothing was changed");
  }
  const auto whole_json = [&] { return install_json(resolution, *changes, dry_run); };
  const auto only_conflicts = [&]() -> ordered_json {
    return {{"conflicts", conflicts_json(changes->conflicts)}};
  };
  if (changes->conflicts.empty()) note_overwritten(*changes, output);
  if (!changes->conflicts.empty() && dry_run) return refuse_conflicts(*changes, whole_json, output);
  if (!changes->conflicts.empty()) return refuse_conflicts(*changes, only_conflicts, output);
  const std::string place = arguments.value(session::Opt::report);
  std::string report;
  if (!place.empty()) {
    if (auto done =
            session::complete_facts(resolution, *installation.workspace.transport, facts, output);
        !done)
      return output.failure(done.error());
    report = render_json(installation_report(
        {resolution, installation.workspace.requests, facts, installation.target.markers}));
    const auto written =
        place == "-" ? session::Outcome<void>() : session::write_output(place, report, "report");
    if (!written) return output.failure(written.error());
  }
  if (auto done = installer::apply(*changes, output); !done)
    return output.failure(session::failed(std::move(done).error()).error());
  if (!dry_run && !(changes->installed.empty() && changes->removed.empty()))
    output.change_was_made();
  if (!dry_run) note_end(*changes, volume, installation.began, output);
  if (place == "-") return output.answer_text(report);
  return output.answer(
      {.text =
           [&] {
             return (installation.explain ? render_decisions(resolution.packages, output) : "") +
                    render_changes(*changes, output);
           },
       .json = whole_json});
}

session::Outcome<void> check_arguments(const session::Arguments& arguments) {
  const bool from_file = arguments.has(session::Opt::requirement) ||
                         arguments.has(session::Opt::group) ||
                         arguments.has(session::Opt::editable);
  if (arguments.has(session::Opt::refit)) {
    if (!from_file) return {};
    return session::misused("--refit takes names of installed packages, not -r or --group",
                            "name none of them to refit all");
  }
  // As pip: an environment would have packages that its own interpreter cannot use.
  const auto stated = session::read_stated_target(arguments);
  if (!stated) return std::unexpected(stated.error());
  if (stated->is_stated() && !arguments.has(session::Opt::target) &&
      !arguments.has(session::Opt::dry_run)) {
    return session::misused(
        fmt::format("{}: packages for another interpreter or platform do not belong into this "
                    "environment",
                    session::stated_by(arguments)),
        "name a folder with --target, or add --dry-run");
  }
  if (arguments.value(session::Opt::report) == "-" && arguments.has(session::Opt::json))
    return session::misused("--report - and --json both want stdout", "name a file for the report");
  if (!arguments.positionals.empty() || from_file) return {};
  return session::misused("nothing to install",
                          "name a package, a wheel, a folder, -r FILE or --group NAME");
}

/// Only for --refit: what is requested is what is installed.
session::Outcome<void> refit(const Installation& installation,
                             const std::vector<installer::InstalledDistribution>& there,
                             Output& output) {
  auto requests =
      session::refit_requests(installation.workspace, installation.target, there, output);
  if (!requests) return std::unexpected(requests.error());
  if (requests->requirements.empty())
    output.note("every build is the one that would be chosen for this machine");
  installation.workspace.requests = std::move(*requests);
  return {};
}

}  // namespace

int run_install(session::Session& session, Output& output) {
  const auto began = std::chrono::steady_clock::now();
  expect_change();
  const session::Arguments& arguments = session.arguments();
  if (const auto good = check_arguments(arguments); !good) return output.failure(good.error());
  auto machine = session.machine();
  if (!machine) return output.failure(machine.error());
  auto workspace = session::open_workspace(session, session::Purpose::install);
  if (!workspace) return output.failure(workspace.error());
  // The environment's own pip.conf is known now.
  output.set_progress(
      choose_progress((*workspace)->settings.progress, arguments.has(session::Opt::quiet)));
  const installer::Environment& environment = (*workspace)->environment;
  if (const auto refused = session::refuse_managed(environment, arguments); !refused) {
    return output.failure(refused.error());
  }
  auto there = installer::list_installed(environment, output, session.cache_folder());
  if (!there) return output.failure(session::failed(there.error()).error());

  const Installation installation{
      .workspace = **workspace,
      .target = session::make_target(environment, (*workspace)->stated, machine->machine,
                                     session.elsewhere()),
      .there = session::installed_packages(*there),
      .explain = arguments.has(session::Opt::explain),
      .began = began};
  if (arguments.has(session::Opt::refit)) {
    if (const auto done = refit(installation, *there, output); !done)
      return output.failure(done.error());
  }
  const auto resolve = [&] { return installation.resolve(output); };
  const auto resolve_checked = [&] {
    const auto host = session.elsewhere() ? nullptr : detect::make_real_host();
    auto runtime = runtime_of(machine->machine, host.get(), environment);
    return resolve_with_abi(resolve, (*workspace)->options, *there, runtime,
                            *(*workspace)->transport, output);
  };
  auto resolution = arguments.has(session::Opt::check_abi) ? resolve_checked() : resolve();
  if (!resolution) return report_unresolved(resolution.error(), installation, output);
  warn_of_unusable_gpus(resolution->packages, machine->machine, output);
  if (!installation.explain) note_choices(resolution->packages, output);
  if (auto good = installation.check_attestations(*resolution); !good)
    return output.failure(session::failed(std::move(good).error()).error());
  return carry_out(session, installation, std::move(*resolution), output);
}

int run_uninstall(session::Session& session, Output& output) {
  const auto began = std::chrono::steady_clock::now();
  expect_change();
  const auto names =
      session::read_names(session.arguments(), session::remote_files(session, false));
  if (!names) return output.failure(names.error());
  if (names->empty()) {
    return output.failure(
        session::misused("nothing to uninstall", "name a package, or -r FILE").error());
  }
  auto environment = session::open_environment(session, false);
  if (!environment) return output.failure(environment.error());
  if (const auto refused = session::refuse_managed(*environment, session.arguments()); !refused) {
    return output.failure(refused.error());
  }
  const bool dry_run = session.arguments().has(session::Opt::dry_run);
  if (!dry_run) begin_change();
  const auto plan = dry_run ? installer::foresee_changes : installer::plan_changes;
  installer::InstallOptions options;
  options.cache_folder = session.cache_folder();
  auto changes = plan({{}, *names}, *environment, nullptr, options, output);
  if (!changes) return output.failure(session::failed(changes.error()).error());
  if (dry_run) output.note("dry run: nothing was changed");
  if (auto done = installer::apply(*changes, output); !done)
    return output.failure(session::failed(std::move(done).error()).error());
  if (!dry_run && !changes->removed.empty()) output.change_was_made();
  if (!dry_run) note_end(*changes, {}, began, output);
  return output.answer({.text = [&] { return render_changes(*changes, output); },
                        .json = [&]() -> ordered_json {
                          return {{"removed", changes_json(changes->removed)},
                                  {"dry_run", dry_run}};
                        }});
}

}  // namespace axle::cli

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
#include "cli/environment_change.h"
#include "cli/interruption.h"
#include "cli/kept_answer.h"
#include "cli/views/changes_view.h"
#include "cli/views/decision_view.h"
#include "cli/views/installation_report.h"
#include "foundation/system/descriptor.h"
#include "foundation/system/large_pages.h"
#include "installer/transaction/changes.h"
#include "resolver/solver/solver.h"
#include "session/cache/cache_lock.h"
#include "session/changes/environment_changes.h"
#include "session/changes/refit.h"
#include "session/kept_answers/satisfied_install.h"
#include "session/output_file.h"
#include "session/requests/read_requests.h"
#include "session/session.h"
#include "session/workspace.h"
#include "wheel/system_platform.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// What an installation resolves, and for which environment.
struct Installation {
  session::Workspace& workspace;
  resolver::Target target;
  std::vector<plan::InstalledPackage> there;
  const std::vector<installer::InstalledDistribution>& distributions;  ///< the same
  session::AnswerKeeper& keeper;
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

/// Plans the changes for `resolution` and applies or shows them.
int carry_out_and_answer(const session::Session& session, const Installation& installation,
                         plan::Resolution resolution, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const bool dry_run = arguments.has(session::Opt::dry_run);
  const std::string place = arguments.value(session::Opt::report);
  std::string report;
  EnvironmentChange change{.workspace = installation.workspace,
                           .began = installation.began,
                           .again = [&]() -> Result<plan::Resolution> {
                             auto again = installation.resolve(output);
                             if (!again) {
                               const Error& error = again.error();
                               return std::unexpected(error);
                             }
                             if (auto good = installation.check_attestations(*again); !good)
                               return std::unexpected(std::move(good).error());
                             return *std::move(again);
                           }};
  if (!place.empty()) {
    change.before = [&](const plan::Resolution& planned,
                        installer::WheelFactsByUrl& facts) -> session::Outcome<void> {
      if (auto done =
              session::complete_facts(planned, *installation.workspace.transport, facts, output);
          !done)
        return done;
      report = render_json(installation_report(
          {planned, installation.workspace.requests, facts, installation.target.markers}));
      if (place == "-") return {};
      return session::write_output(place, report, "report");
    };
  }
  const auto changes = carry_out(session, change, resolution, output);
  if (!changes) return changes.error();
  if (changes->installed.empty() && changes->removed.empty() && may_be_kept(output)) {
    session::keep_satisfied_install(
        installation.keeper,
        {render_changes(*changes, output), {}, installation.workspace.environment.prefix}, session,
        resolution, installation.workspace, installation.distributions);
  }
  if (place == "-") return output.answer_text(report);
  return output.answer(
      {.text =
           [&] {
             return (installation.explain ? render_decisions(resolution.packages, output) : "") +
                    render_changes(*changes, output);
           },
       .json = [&] { return installation_json(resolution, *changes, dry_run); }});
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

/// Its own interpreter could use none of them.
session::Outcome<void> refuse_another_system(const machines::NamedMachine& machine,
                                             const session::Arguments& arguments) {
  const std::string_view system = machine.machine.os.system;
  const bool here = system.empty() || system == wheel::linux_system ||
                    arguments.has(session::Opt::target) || arguments.has(session::Opt::dry_run);
  if (here) return {};
  return session::misused(fmt::format("{}: packages for {} do not belong into this environment",
                                      machine.name, system == wheel::mac_system ? "macOS" : system),
                          "name a folder with --target, or add --dry-run");
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
  session::AnswerKeeper keeper = session::satisfied_install(session);
  if (const auto answer = find_kept(keeper, output)) return give(*answer, output);
  const auto& machine = keeper.machine();
  if (!machine) return output.failure(machine.error());
  if (const auto good = refuse_another_system(*machine, arguments); !good)
    return output.failure(good.error());
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
      .distributions = *there,
      .keeper = keeper,
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
  return carry_out_and_answer(session, installation, std::move(*resolution), output);
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
  system::prefer_large_pages();
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
  const auto cache_lock =
      dry_run ? system::Descriptor() : session::share_cache(options.cache_folder, output);
  if (!options.cache_folder.empty()) options.store_folder = options.cache_folder + "/store";
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

#include <filesystem>
#include <functional>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/views/decision_view.h"
#include "installer/store/work_folder.h"
#include "installer/transaction/transaction.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

ordered_json changes_json(const std::vector<installer::Change>& changes) {
  ordered_json out = ordered_json::array();
  for (const installer::Change& change : changes) {
    out.push_back({{"name", change.name},
                   {"version", change.version},
                   {"variant", variant_json(change.variant)}});
  }
  return out;
}

std::string change_line(const char* sign, const installer::Change& change) {
  return fmt::format("{} {} {}{}\n", sign, change.name, change.version,
                     change.variant ? " (variant " + *change.variant + ")" : "");
}

std::string render_outcome(const installer::Outcome& outcome) {
  std::string text;
  for (const installer::Change& change : outcome.removed) text += change_line("-", change);
  for (const installer::Change& change : outcome.installed) text += change_line("+", change);
  if (outcome.installed.empty() && outcome.removed.empty()) {
    for (const installer::Change& change : outcome.kept) text += change_line("=", change);
  }
  return text;
}

/// What an install would do, without doing it.
installer::Outcome foreseen(const plan::Resolution& resolution,
                            const std::vector<installer::InstalledDistribution>& there) {
  installer::Outcome outcome;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    const installer::Change change{package.name, wheel::render_version(package.version),
                                   package.variant};
    if (package.already_installed) {
      outcome.kept.push_back(change);
      continue;
    }
    outcome.installed.push_back(change);
    for (const installer::InstalledDistribution& old : there) {
      if (old.name == package.name && !old.outer) {
        outcome.removed.push_back(
            {old.name, wheel::render_version(old.metadata.version), old.variant});
      }
    }
  }
  return outcome;
}

session::Outcome<void> refuse_managed(const installer::Environment& environment,
                                      const session::Arguments& arguments) {
  if (!environment.externally_managed || arguments.has(session::Opt::break_system_packages) ||
      arguments.has(session::Opt::dry_run)) {
    return {};
  }
  std::string message =
      fmt::format("the environment of {} is managed by the operating system", environment.python);
  if (!environment.externally_managed_message.empty())
    message += ": " + environment.externally_managed_message;
  return session::failed(
      {ErrorKind::unsupported, std::move(message),
       "make an environment, `python3 -m venv .venv`, or insist with --break-system-packages"});
}

/// The store of a command that keeps nothing: gone with it.
Result<installer::WorkFolder> temporary_store() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  auto made =
      error ? fail(ErrorKind::io, "there is no folder for temporary files: " + error.message())
            : installer::WorkFolder::create(place.string(), "axle-store-");
  if (!made) made.error().hint = "set TMPDIR, or name a cache with --cache-dir";
  return made;
}

/// `cache`, or "" with a warning when nothing can be kept there: that must not stop an
/// installation.
std::string writable_cache(const std::string& cache, Report& report) {
  if (cache.empty()) return {};
  std::error_code error;
  fs::create_directories(cache, error);
  if (!error && access(cache.c_str(), W_OK) == 0) return cache;
  report.warn(fmt::format("nothing can be kept in the cache {}", cache),
              "name another one with --cache-dir");
  return {};
}

/// Installs `resolution`. Where a wheel's own METADATA is not what it was chosen by, that is said
/// and `resolve` asked again, which then goes by the wheel's.
session::Outcome<installer::Outcome> install_as_wheels_say(
    session::Workspace& workspace, plan::Resolution& resolution, installer::InstallOptions options,
    const std::function<Result<plan::Resolution>()>& resolve, Report& report) {
  auto& truths = workspace.sources.true_metadata;
  options.other_metadata = &truths;
  while (true) {
    const std::size_t known = truths.size();
    auto done = installer::install(resolution, workspace.environment, *workspace.transport, options,
                                   report);
    if (done) return std::move(*done);
    if (truths.size() == known) return session::failed(std::move(done).error());
    report.warn(done.error().message + "; the wheel's own counts", done.error().hint);
    auto again = resolve();
    if (!again) return session::failed_to_choose(std::move(again).error());
    resolution = std::move(*again);
  }
}

}  // namespace

int run_install(session::Session& session, Output& output) {
  expect_change();
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.empty() && !arguments.has(session::Opt::requirement)) {
    return output.failure(
        session::misused("nothing to install", "name a package, a wheel or -r FILE").error());
  }
  auto machine = session.machine();
  if (!machine) return output.failure(machine.error());
  auto workspace = session::open_workspace(session, false);
  if (!workspace) return output.failure(workspace.error());
  const installer::Environment& environment = (*workspace)->environment;
  if (const auto refused = refuse_managed(environment, arguments); !refused) {
    return output.failure(refused.error());
  }
  auto there = installer::list_installed(environment, output);
  if (!there) return output.failure(session::failed(there.error()).error());

  const resolver::Target target =
      session::make_target(environment, machine->machine, session.elsewhere());
  auto resolution =
      resolver::resolve((*workspace)->requests, target, session::installed_packages(*there),
                        (*workspace)->sources, (*workspace)->options, output);
  if (!resolution) {
    const session::Failure failure = session::failed_to_choose(resolution.error()).error();
    if (failure.error.kind != ErrorKind::unsupported) {
      const ordered_json plan = refused_plan_json(resolution.error());
      return output.failure(failure, plan.is_null() ? plan : ordered_json{{"error", plan}});
    }
    const auto misfits = session::explain_misfits(**workspace, target);
    if (arguments.has(session::Opt::explain) && !output.options().json) {
      for (const resolver::Explanation& misfit : misfits)
        output.answer(render_explanation(misfit, output), {});
    }
    return output.failure(failure, {{"packages", explanations_json(misfits)}});
  }
  warn_of_unusable_gpus(resolution->packages, machine->machine, output);

  std::string text;
  for (const plan::ResolvedPackage& package : resolution->packages) {
    if (arguments.has(session::Opt::explain) && !package.already_installed) {
      text += plan::render_package(package) + "\n" +
              render_decision(package.decision, package.variant.value_or(""), output);
    } else if (package.variant && !package.already_installed &&
               !package.decision.chosen_because.empty()) {
      output.note(plan::render_package(package) + ": " + package.decision.chosen_because);
    }
  }

  installer::Outcome outcome;
  if (arguments.has(session::Opt::dry_run)) {
    outcome = foreseen(*resolution, *there);
    output.note("this is what would be done; nothing was changed");
  } else {
    const std::string cache = writable_cache(session.cache_folder(), output);
    std::optional<Result<installer::WorkFolder>> temporary;
    if (cache.empty()) temporary.emplace(temporary_store());
    if (temporary && !*temporary)
      return output.failure(session::failed(temporary->error()).error());
    installer::InstallOptions options;
    options.store_folder = temporary ? (*temporary)->path() : cache + "/store";
    options.overwrite = arguments.has(session::Opt::overwrite);
    options.verify_store = arguments.has(session::Opt::reinstall);
    begin_change();
    auto done = install_as_wheels_say(
        **workspace, *resolution, options,
        [&] {
          return resolver::resolve((*workspace)->requests, target,
                                   session::installed_packages(*there), (*workspace)->sources,
                                   (*workspace)->options, output);
        },
        output);
    if (!done) return output.failure(done.error());
    outcome = std::move(*done);
    if (!outcome.installed.empty() || !outcome.removed.empty()) output.change_was_made();
  }
  text += render_outcome(outcome);
  return output.answer(text, {{"packages", packages_json(resolution->packages)},
                              {"installed", changes_json(outcome.installed)},
                              {"removed", changes_json(outcome.removed)},
                              {"kept", changes_json(outcome.kept)},
                              {"dry_run", arguments.has(session::Opt::dry_run)}});
}

int run_uninstall(session::Session& session, Output& output) {
  expect_change();
  if (session.arguments().positionals.empty()) {
    return output.failure(session::misused("nothing to uninstall", "name a package").error());
  }
  auto environment = session::open_environment(session, false);
  if (!environment) return output.failure(environment.error());
  if (const auto refused = refuse_managed(*environment, session.arguments()); !refused) {
    return output.failure(refused.error());
  }
  begin_change();
  auto outcome = installer::uninstall(session.arguments().positionals, *environment, output);
  if (!outcome) return output.failure(session::failed(outcome.error()).error());
  if (!outcome->removed.empty()) output.change_was_made();
  return output.answer(render_outcome(*outcome), {{"removed", changes_json(outcome->removed)}});
}

}  // namespace axle::cli

#include "cli/projects/locked_project.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "session/projects/project_lock.h"
#include "wheel/requirement.h"

namespace axle::cli {

namespace {

using session::Opt;

/// What is not followed because of --frozen or --locked, which a variable may have set.
std::string setting_of(Opt id, const Output& output) {
  if (output.run().command_line.has(id)) return session::option_name(id);
  return id == Opt::frozen ? "UV_FROZEN" : "UV_LOCKED";
}

session::Outcome<void> check_use(const session::Arguments& arguments) {
  if (arguments.has(Opt::frozen) && arguments.has(Opt::locked))
    return session::misused("--frozen and --locked cannot be combined", "leave one of them out");
  return {};
}

session::CommandFailure stale(std::string why) {
  return {{ErrorKind::mismatch, std::move(why), "`variant lock` brings it up to date"},
          session::exit_stale};
}

/// The lock as it is is shown: one that is out of date is a warning, and with --locked refused.
session::Outcome<void> check_shown(const session::Project& project, const plan::Lock& lock,
                                   const session::Arguments& arguments, Output& output) {
  if (auto use = check_use(arguments); !use) return use;
  if (arguments.has(Opt::frozen)) return {};
  const auto current = session::is_current(project, lock);
  if (!current) return std::unexpected(current.error());
  if (*current) return {};
  const session::CommandFailure failure = stale(out_of_date());
  if (arguments.has(Opt::locked)) return std::unexpected(failure);
  output.warn(failure.error.message, failure.error.hint);
  return {};
}

}  // namespace

std::string out_of_date() {
  return fmt::format("{} is not what pyproject.toml asks for now", plan::lock_filename);
}

session::Outcome<std::string> why_stale(const session::Session& session,
                                        const session::Project& project, const plan::Lock& lock) {
  const auto current = session::is_current(project, lock);
  if (!current) return std::unexpected(current.error());
  if (!*current) return out_of_date();
  auto foreign = session::foreign_source(session, project, lock);
  if (foreign && !foreign->empty()) *foreign = fmt::format("{}: {}", plan::lock_filename, *foreign);
  return foreign;
}

std::string choosing_option(const session::Arguments& arguments) {
  for (const Opt id : {Opt::upgrade,
                       Opt::upgrade_package,
                       Opt::exclude_newer,
                       Opt::uploaded_prior_to,
                       Opt::exclude_newer_package,
                       Opt::no_binary,
                       Opt::only_binary,
                       Opt::no_sources,
                       Opt::no_sources_package,
                       Opt::pre,
                       Opt::prerelease,
                       Opt::variant,
                       Opt::no_variants,
                       Opt::no_variants_of,
                       Opt::torch_backend,
                       Opt::require,
                       Opt::supported,
                       Opt::enable_provider,
                       Opt::disable_provider,
                       Opt::minimize,
                       Opt::best,
                       Opt::budget}) {
    if (arguments.has(id)) return session::option_name(id);
  }
  return {};
}

session::Outcome<std::string> named_class(const session::Arguments& arguments) {
  const std::vector<std::string> names = arguments.values(Opt::machine_class);
  if (names.size() > 1)
    return session::misused("--class: an environment is of one class", "name one");
  return names.empty() ? std::string() : names.front();
}

session::Outcome<LockedProject> open_locked_project(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const bool frozen = arguments.has(Opt::frozen);
  const bool locked = arguments.has(Opt::locked);
  if (auto use = check_use(arguments); !use) return std::unexpected(use.error());
  const std::string choosing = choosing_option(arguments);
  if ((frozen || locked) && !choosing.empty())
    return session::misused(fmt::format("{} has no effect with {}", choosing,
                                        setting_of(frozen ? Opt::frozen : Opt::locked, output)),
                            "leave one of them out");
  auto project = session::open_project();
  if (!project) return std::unexpected(project.error());
  auto lock = session::read_lock(*project);
  if (!lock) return std::unexpected(lock.error());
  if (frozen) {
    if (!*lock) return std::unexpected(session::no_lock(project->folder));
    return LockedProject{*std::move(project), **std::move(lock)};
  }
  session::CommandFailure why = session::no_lock(project->folder);
  why.exit_code = session::exit_stale;
  if (*lock && choosing.empty()) {
    auto stale_by = why_stale(session, *project, **lock);
    if (!stale_by) return std::unexpected(stale_by.error());
    if (stale_by->empty()) return LockedProject{*std::move(project), **std::move(lock)};
    why = stale(*std::move(stale_by));
  }
  if (locked) return std::unexpected(std::move(why));
  auto made = session::make_lock(session, *project, *lock ? &**lock : nullptr, {}, output);
  if (!made) return std::unexpected(made.error());
  if (!arguments.has(Opt::dry_run)) {
    if (const auto written = session::write_lock(*project, *made); !written)
      return std::unexpected(written.error());
  }
  return LockedProject{*std::move(project), *std::move(made)};
}

session::Outcome<LockedProject> read_locked_project(const session::Arguments& arguments,
                                                    Output& output) {
  auto project = session::open_project();
  if (!project) return std::unexpected(project.error());
  auto lock = session::read_lock(*project);
  if (!lock) return std::unexpected(lock.error());
  if (!*lock) return std::unexpected(session::no_lock(project->folder));
  if (auto shown = check_shown(*project, **lock, arguments, output); !shown)
    return std::unexpected(shown.error());
  return LockedProject{*std::move(project), **std::move(lock)};
}

session::Outcome<session::LockFile> read_lock_file(const session::Arguments& arguments,
                                                   Output& output) {
  auto file = session::open_lock();
  if (!file) return file;
  if (auto use = check_use(arguments); !use) return std::unexpected(use.error());
  if (!file->project) return file;
  if (auto shown = check_shown(*file->project, file->lock, arguments, output); !shown)
    return std::unexpected(shown.error());
  return file;
}

session::SyncWishes sync_wishes(const session::Arguments& arguments) {
  return {.exact = !arguments.has(Opt::inexact),
          .project = !arguments.has(Opt::no_install_project),
          .editable = !arguments.has(Opt::no_editable)};
}

session::Arguments within_environment(const session::Arguments& arguments,
                                      const std::string& folder) {
  session::Arguments inner = arguments;
  for (const Opt answered :
       {Opt::python, Opt::group, Opt::extra, Opt::all_extras, Opt::upgrade, Opt::upgrade_package})
    inner.remove(answered);
  inner.positionals.clear();
  inner.add(Opt::python, folder);
  return inner;
}

}  // namespace axle::cli

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

session::CommandFailure no_lock(const session::Project& project) {
  return session::failed({ErrorKind::not_found,
                          fmt::format("{} has no {}", project.folder, plan::lock_filename),
                          "`variant lock` makes it"})
      .error();
}

/// The names among `known` that `given` are, normalised.
session::Outcome<std::vector<std::string>> known_names(const std::vector<std::string>& given,
                                                       std::string_view option,
                                                       const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const std::string& one : given) {
    std::string name = wheel::normalize_name(one);
    if (std::ranges::find(known, name) == known.end()) {
      return session::misused(fmt::format("{} {}: the project has none of that name", option, one),
                              text::suggest(name, known,
                                            known.empty() ? "it has none at all"
                                                          : "it has " + text::joined_by_or(known)));
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> keys(
    const std::map<std::string, std::vector<std::string>, std::less<>>& of) {
  std::vector<std::string> names;
  names.reserve(of.size());
  for (const auto& [name, requirements] : of) names.push_back(name);
  return names;
}

}  // namespace

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
  if (frozen && locked)
    return session::misused("--frozen and --locked cannot be combined", "leave one of them out");
  const std::string choosing = choosing_option(arguments);
  if ((frozen || locked) && !choosing.empty())
    return session::misused(
        fmt::format("{} has no effect with {}", choosing, frozen ? "--frozen" : "--locked"),
        "leave one of them out");
  auto project = session::open_project();
  if (!project) return std::unexpected(project.error());
  auto lock = session::read_lock(*project);
  if (!lock) return std::unexpected(lock.error());
  if (frozen) {
    if (!*lock) return std::unexpected(no_lock(*project));
    return LockedProject{*std::move(project), **std::move(lock)};
  }
  if (*lock && choosing.empty()) {
    const auto current = session::is_current(*project, **lock);
    if (!current) return std::unexpected(current.error());
    if (*current) return LockedProject{*std::move(project), **std::move(lock)};
  }
  if (locked) {
    session::CommandFailure failure = no_lock(*project);
    if (*lock) {
      failure.error = {
          ErrorKind::mismatch,
          fmt::format("{} is not what pyproject.toml asks for now", plan::lock_filename),
          "`variant lock` brings it up to date"};
    }
    failure.exit_code = session::exit_stale;
    return std::unexpected(std::move(failure));
  }
  auto made = session::make_lock(session, *project, *lock ? &**lock : nullptr, {}, output);
  if (!made) return std::unexpected(made.error());
  if (!arguments.has(Opt::dry_run)) {
    if (const auto written = session::write_lock(*project, *made); !written)
      return std::unexpected(written.error());
  }
  return LockedProject{*std::move(project), *std::move(made)};
}

session::Outcome<LockedProject> read_locked_project(Output& output) {
  auto project = session::open_project();
  if (!project) return std::unexpected(project.error());
  auto lock = session::read_lock(*project);
  if (!lock) return std::unexpected(lock.error());
  if (!*lock) return std::unexpected(no_lock(*project));
  const auto current = session::is_current(*project, **lock);
  if (!current) return std::unexpected(current.error());
  if (!*current)
    output.warn(fmt::format("{} is not what pyproject.toml asks for now", plan::lock_filename),
                "`variant lock` brings it up to date");
  return LockedProject{*std::move(project), **std::move(lock)};
}

session::Outcome<plan::LockSelection> lock_selection(const session::Project& project,
                                                     const plan::Lock& lock,
                                                     const session::Arguments& arguments) {
  plan::LockSelection wanted;
  const auto only =
      known_names(arguments.values(Opt::only_group), "--only-group", keys(lock.requests.groups));
  if (!only) return std::unexpected(only.error());
  wanted.project = only->empty();
  wanted.groups = *only;
  const auto groups =
      known_names(arguments.values(Opt::group), "--group", keys(lock.requests.groups));
  if (!groups) return std::unexpected(groups.error());
  wanted.groups.insert(wanted.groups.end(), groups->begin(), groups->end());
  if (arguments.has(Opt::all_groups)) wanted.groups = keys(lock.requests.groups);
  if (wanted.project && !arguments.has(Opt::no_default_groups)) {
    for (const std::string& name : project.default_groups) {
      if (lock.requests.groups.contains(name)) wanted.groups.push_back(name);
    }
  }
  const auto extras =
      known_names(arguments.values(Opt::extra), "--extra", keys(lock.requests.extras));
  if (!extras) return std::unexpected(extras.error());
  wanted.extras = arguments.has(Opt::all_extras) ? keys(lock.requests.extras) : *extras;
  for (std::vector<std::string>* names : {&wanted.groups, &wanted.extras}) {
    std::ranges::sort(*names);
    names->erase(std::ranges::unique(*names).begin(), names->end());
  }
  return wanted;
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

#include "session/projects/built_as_locked.h"

#include <algorithm>

#include <fmt/format.h>

#include "foundation/system/shell_command.h"
#include "index/http/redaction.h"
#include "index/pages/remote_wheel.h"
#include "session/requests/requested_sources.h"
#include "wheel/core_metadata.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

bool names_place(const std::string& text, const std::string& name) {
  const auto requirement = wheel::parse_requirement(text);
  return requirement && !requirement->url.empty() &&
         wheel::normalize_name(requirement->name) == name;
}

bool names_place(const std::vector<FileRequirement>& requirements, const std::string& name) {
  return std::ranges::any_of(
      requirements, [&](const FileRequirement& one) { return names_place(one.text, name); });
}

bool is_named_by(const Project& project, const Workspace& workspace, const std::string& name) {
  const auto in_some = [&](const auto& lists) {
    return std::ranges::any_of(lists,
                               [&](const auto& list) { return names_place(list.second, name); });
  };
  const auto in_requests = [&](const std::vector<resolver::Request>& requests) {
    return std::ranges::any_of(requests, [&](const resolver::Request& one) {
      return !one.requirement.url.empty() && wheel::normalize_name(one.requirement.name) == name;
    });
  };
  return workspace.sources.assigned.contains(name) || names_place(project.dependencies, name) ||
         in_some(project.extras) || in_some(project.groups) ||
         in_requests(workspace.requests.constraints) || in_requests(workspace.requests.overrides);
}

/// What of the built wheel's needs `packages` do not meet; empty: nothing. What the user overrides
/// is another matter.
std::string unmet_need(const plan::ResolvedPackage& built,
                       const std::vector<plan::ReachedPackage>& packages, Workspace& workspace) {
  index::PublishedFile file;
  file.filename = built.filename;
  file.url = built.url;
  file.hash = built.hash;
  CollectedReport unread;
  const auto text = index::fetch_metadata(file, built.wheel_name, {}, *workspace.transport, unread);
  const auto metadata =
      text ? wheel::parse_core_metadata(*text, built.filename) : std::unexpected(text.error());
  if (!metadata) return {};  // whoever installs it says so
  for (const wheel::Requirement& need : metadata->requires_dist) {
    if (need.marker && !need.marker->evaluate(workspace.environment.markers, "")) continue;
    const std::string name = wheel::normalize_name(need.name);
    const bool is_overridden =
        std::ranges::any_of(workspace.requests.overrides, [&](const resolver::Request& one) {
          return wheel::normalize_name(one.requirement.name) == name;
        });
    const bool is_met = std::ranges::any_of(packages, [&](const plan::ReachedPackage& reached) {
      const plan::LockedPackage& package = *reached.package;
      if (std::ranges::find(package.stands_for, name) != package.stands_for.end()) return true;
      return package.name == name && need.specifiers.contains(package.version);
    });
    if (!is_overridden && !is_met && name != built.name) return wheel::render_requirement(need);
  }
  return {};
}

}  // namespace

Outcome<void> check_consent(const plan::LockedPackage& locked, const Project& project,
                            const Workspace& workspace) {
  if (workspace.options.builds.covers(locked.name) || is_named_by(project, workspace, locked.name))
    return {};
  // A member of a workspace has sources besides those of the configuration.
  if (!workspace.settings.no_sources) {
    const auto named = packages_with_sources(project.file, workspace.settings);
    if (!named) return std::unexpected(named.error());
    if (named->contains(locked.name)) return {};
  }
  return failed(
      {ErrorKind::conflict,
       fmt::format("{} is not built from {}: the metadata of another package names it, "
                   "and a build runs its code",
                   locked.name, index::redact_url(locked.built_from->url)),
       fmt::format("consent with `--build={}`, or name it in the project as well", locked.name)});
}

Outcome<void> check_built(const plan::LockedPackage& locked, const plan::ResolvedPackage& built,
                          const std::vector<plan::ReachedPackage>& packages, Workspace& workspace,
                          Report& report) {
  std::string difference;
  if (built.version != locked.version) {
    difference = fmt::format("it is {}, and {} is locked", wheel::render_version(built.version),
                             wheel::render_version(locked.version));
  } else if (std::string need = unmet_need(built, packages, workspace); !need.empty()) {
    difference = fmt::format("it needs {}, which is not locked", need);
  }
  if (difference.empty()) return {};
  Error error{
      ErrorKind::mismatch,
      fmt::format("{} was built from {}: {}", locked.name, locked.built_from->filename, difference),
      fmt::format("`variant lock --upgrade-package {}` locks what it is now",
                  shell_word(locked.name))};
  if (locked.built_from->kind != plan::BuiltFrom::Kind::folder) return failed(std::move(error));
  report.warn(std::move(error.message), std::move(error.hint));
  return {};
}

}  // namespace axle::session

#include "session/package_sources.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "session/default_index.h"
#include "session/index_access.h"
#include "session/requests/dependency_groups.h"
#include "session/requests/project_requirements.h"
#include "session/settings/configured_indexes.h"
#include "session/variables.h"
#include "wheel/marker.h"

namespace axle::session {

namespace {

using NamedIndexes = std::map<std::string, index::Source*, std::less<>>;

NamedIndexes open_indexes(Workspace& workspace, Report& report) {
  NamedIndexes named;
  std::vector<index::Source*>& asked = workspace.sources.indexes;
  bool has_default = workspace.settings.no_index;
  for (const ConfiguredIndex& index : workspace.settings.indexes) {
    has_default = has_default || index.is_default;
    auto source = index::make_simple_source(url_with_login(index), *workspace.transport, report,
                                            index.absent_codes);
    if (!index.name.empty()) named[index.name] = source.get();
    if (!index.explicit_only) asked.push_back(source.get());
    workspace.owned_sources.push_back(std::move(source));
  }
  if (!has_default) {
    workspace.owned_sources.push_back(make_default_index(
        workspace.environment.python, variable("PATH"), *workspace.transport, report));
    asked.push_back(workspace.owned_sources.back().get());
  }
  return named;
}

Outcome<resolver::AssignedSource> assigned_source(const PackageSource& row,
                                                  const NamedIndexes& named) {
  resolver::AssignedSource source;
  source.origin = row.origin;
  source.url = row.url;
  if (!row.unsupported.empty()) {
    source.refusal = Error{ErrorKind::malformed,
                           fmt::format("{} cannot be installed: {} assigns it to {}", row.package,
                                       row.origin, row.unsupported),
                           "build a wheel of it, and set `path` or `url` in the source to that"};
  }
  if (!row.index.empty()) {
    const auto index = named.find(row.index);
    if (index == named.end()) {
      return misused(
          fmt::format("{}: the source of {} names the index {}, which is not configured",
                      row.origin, row.package, row.index),
          fmt::format("declare it with [[tool.uv.index]], or --index {}=URL", row.index));
    }
    source.index = index->second;
  }
  if (!row.marker.empty()) {
    auto marker = wheel::parse_marker(row.marker);
    if (!marker) {
      return misused(fmt::format("{}: the source of {} has a marker that is not valid: {}",
                                 row.origin, row.package, marker.error().message));
    }
    source.marker = std::move(*marker);
  }
  return source;
}

}  // namespace

Outcome<void> open_sources(Workspace& workspace, const Arguments& arguments, Report& report) {
  const Settings& settings = workspace.settings;
  resolver::Sources& sources = workspace.sources;
  const NamedIndexes named = open_indexes(workspace, report);
  for (const PackageSource& row : settings.sources) {
    // Without indexes only find-links remain, as in uv.
    if (settings.no_index && !row.index.empty()) continue;
    if (workspace.bundle != nullptr && !row.url.empty()) {
      report.warn(fmt::format("{}: the source of {} is ignored: everything comes out of the bundle",
                              row.origin, row.package));
      continue;
    }
    const std::string file = row.origin.substr(0, row.origin.rfind(':'));
    const bool other_group =
        !row.group.empty() && !is_requested(file, row.group, arguments.values(Opt::group));
    const bool other_extra = !row.extra.empty() && !is_extra_requested(file, row.extra, arguments);
    if (other_extra || other_group) {
      // A synchronisation requests nothing: its lock says what comes from where.
      if (!workspace.requests.requirements.empty())
        report.warn(
            fmt::format("{}: the source of {} is only for the {} {}, which is not "
                        "installed here; it is ignored",
                        row.origin, row.package, row.extra.empty() ? "group" : "extra",
                        row.extra.empty() ? row.group : row.extra));
      continue;
    }
    const bool editable =
        row.editable && !settings.no_editable && !settings.no_editable_of.contains(row.package);
    if (editable) workspace.options.builds.editable.insert(row.url);
    auto source = assigned_source(row, named);
    if (!source) return std::unexpected(source.error());
    sources.assigned[row.package].push_back(std::move(*source));
  }
  if (workspace.bundle != nullptr) {
    workspace.owned_sources.push_back(
        index::make_simple_source(workspace.bundle->index_url(), *workspace.transport, report));
    sources.indexes = {workspace.owned_sources.back().get()};
  }
  for (const Stated& location : settings.find_links) {
    workspace.owned_sources.push_back(index::make_find_links_source(absolute_place(location.value),
                                                                    *workspace.transport, report));
    sources.find_links.push_back(workspace.owned_sources.back().get());
  }
  sources.strategy = settings.index_strategy;
  // A bundle lacks nothing that it lists.
  sources.offline = settings.offline && workspace.bundle == nullptr;
  sources.transport = workspace.transport.get();
  sources.families = workspace.families.get();
  return {};
}

}  // namespace axle::session

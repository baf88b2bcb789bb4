#include "session/requests/requested_sources.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "foundation/documents/toml_reader.h"
#include "index/http/url.h"
#include "resolver/request/source_url.h"
#include "session/requests/dependency_groups.h"
#include "session/requests/project_requirements.h"
#include "session/settings/configuration_files.h"
#include "session/settings/uv_project.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

struct GroupSource {
  PackageSource source;
  std::optional<ConfiguredIndex> index;  ///< that `source.index` names
};

/// What one file, or its workspace, says of a package.
using SourcesOfPackage = std::vector<GroupSource>;

struct Assigned {
  std::string file;
  SourcesOfPackage sources;
};

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code absent;
  return fs::equivalent(one, other, absent);
}

Outcome<SettingsLayer> read_layer(const std::string& file) {
  auto layer = read_pyproject_layer(file);
  if (!layer) return std::unexpected(layer.error());
  return std::move(*layer).value_or(SettingsLayer());
}

void add_names(const std::vector<FileRequirement>& entries, std::set<std::string>& names) {
  for (const FileRequirement& entry : entries) {
    if (const auto requirement = wheel::parse_requirement(entry.text))
      names.insert(wheel::normalize_name(requirement->name));
  }
}

/// The packages that groups and projects of each file name, normalised.
Outcome<void> name_requested(const Arguments& arguments,
                             std::map<std::string, std::set<std::string>>& by_file) {
  for (const std::string& group : arguments.values(Opt::group)) {
    const auto entries = read_dependency_groups({group});
    if (!entries) return failed(entries.error());
    add_names(*entries, by_file[file_of_group(group)]);
  }
  for (const std::string& file : arguments.values(Opt::requirement)) {
    if (!is_project_file(file)) continue;
    // An extra that it does not have is another file's.
    RequestedExtras extras = requested_extras(arguments);
    const auto entries =
        read_project_requirements({file}, {{}, extras.all || !extras.names.empty()});
    if (!entries) return failed(entries.error());
    add_names(*entries, by_file[file]);
  }
  return {};
}

/// Two sources are alike if they lead to the same place under the same condition.
std::vector<std::string> places_of(const SourcesOfPackage& sources) {
  std::vector<std::string> places;
  for (const auto& [source, index] : sources) {
    places.push_back(fmt::format("{}{}{} ; {}", index ? index->url : source.index, source.url,
                                 source.unsupported, source.marker));
  }
  std::ranges::sort(places);
  return places;
}

std::unexpected<CommandFailure> unlike(const std::string& package, const Assigned& one,
                                       const std::string& other) {
  return misused(fmt::format("{} has one source in {} and another one in {}, and groups of both "
                             "request it",
                             package, one.file, other),
                 "install the groups one after the other, or give it the same source in both");
}

/// The table of one file, with what its workspace adds.
class ProjectSources {
 public:
  static Outcome<ProjectSources> read(const std::string& file) {
    ProjectSources made;
    std::error_code ignored;
    const fs::path folder = fs::absolute(file, ignored).lexically_normal().parent_path();
    auto own = read_layer(file);
    if (!own) return std::unexpected(own.error());
    made.layers_.push_back(*std::move(own));
    const auto root = workspace_of(folder);
    if (!root) return std::unexpected(root.error());
    if (*root == folder.string()) return made;
    auto inherited = read_layer((fs::path(*root) / "pyproject.toml").string());
    if (!inherited) return std::unexpected(inherited.error());
    made.layers_.push_back(*std::move(inherited));
    return made;
  }

  /// Of which it says anything.
  std::set<std::string> packages() const {
    std::set<std::string> names;
    for (const SettingsLayer& layer : layers_) {
      for (const PackageSource& source : layer.sources) names.insert(source.package);
    }
    return names;
  }

  Outcome<SourcesOfPackage> of(const std::string& package) const {
    SourcesOfPackage found;
    for (const SettingsLayer& layer : layers_) {
      for (const PackageSource& source : layer.sources) {
        if (source.package != package) continue;
        auto index = index_of(source);
        if (!index) return std::unexpected(index.error());
        found.push_back({source, *std::move(index)});
      }
      if (!found.empty()) break;
    }
    return found;
  }

 private:
  Outcome<std::optional<ConfiguredIndex>> index_of(const PackageSource& source) const {
    if (source.index.empty()) return std::nullopt;
    for (const SettingsLayer& layer : layers_) {
      const auto known = std::ranges::find(layer.indexes, source.index, &ConfiguredIndex::name);
      if (known != layer.indexes.end()) return *known;
    }
    return misused(fmt::format("{}: the source of {} names the index {}, which that file does not "
                               "declare",
                               source.origin, source.package, source.index),
                   "declare it there with [[tool.uv.index]]");
  }

  std::vector<SettingsLayer> layers_;  ///< its own, then that of the root of its workspace
};

using AssignedPackages = std::map<std::string, Assigned>;

/// Adds what one file assigns to `names`; nullopt: to all packages.
Outcome<void> assign(const std::string& file, const std::optional<std::set<std::string>>& names,
                     const Settings& settings, AssignedPackages& assigned) {
  const auto project = ProjectSources::read(file);
  if (!project) return std::unexpected(project.error());
  for (const std::string& name : names ? *names : project->packages()) {
    if (settings.no_sources_of.contains(name)) continue;
    auto sources = project->of(name);
    if (!sources) return std::unexpected(sources.error());
    if (sources->empty()) continue;
    const auto [known, is_new] = assigned.try_emplace(name, Assigned{file, *sources});
    if (!is_new && places_of(known->second.sources) != places_of(*sources))
      return unlike(name, known->second, file);
  }
  return {};
}

SourcesOfPackage configured_sources(const std::string& package, const Settings& settings) {
  SourcesOfPackage found;
  for (const PackageSource& source : settings.sources) {
    if (source.package != package) continue;
    GroupSource& made = found.emplace_back(source);
    const auto index = std::ranges::find(settings.indexes, source.index, &ConfiguredIndex::name);
    if (!source.index.empty() && index != settings.indexes.end()) made.index = *index;
  }
  return found;
}

/// The name that `settings` know the index by: its own, unless another one has that.
std::string add_index(ConfiguredIndex index, Settings& settings) {
  const auto named = [&](const std::string& name) {
    return std::ranges::find(settings.indexes, name, &ConfiguredIndex::name);
  };
  const auto is_there = [&](const std::string& name) {
    const auto known = named(name);
    return known != settings.indexes.end() && known->url == index.url;
  };
  if (named(index.name) != settings.indexes.end() && !is_there(index.name))
    index.name += " of " + index.origin;
  if (is_there(index.name)) return index.name;
  index.is_default = false;
  index.explicit_only = true;
  settings.indexes.insert(settings.indexes.begin(), index);
  return index.name;
}

/// With the indexes of these sources, under the names that `settings` know them by.
void add_sources(SourcesOfPackage sources, Settings& settings) {
  for (auto& [source, index] : sources) {
    if (index && !settings.no_index) source.index = add_index(*std::move(index), settings);
    settings.sources.push_back(std::move(source));
  }
}

/// The pyproject.toml of the sources in a folder; empty: it has none, or they are elsewhere.
std::string project_file_of(const PackageSource& source) {
  const auto place = resolver::parse_source_url(source.url);
  if (!place || place->kind != resolver::SourceUrl::Kind::folder) return {};
  const auto folder = index::file_path(place->url);
  if (!folder) return {};
  const fs::path file = fs::path(*folder) / place->subdirectory / "pyproject.toml";
  std::error_code error;
  return fs::is_regular_file(file, error) ? file.lexically_normal().string() : std::string();
}

/// Whether [tool.uv] says so. What is wrong with the file is reported where it is read next.
bool is_no_package(const std::string& file) {
  const auto text = read_configuration(file);
  if (!text || !*text) return false;
  const auto document = documents::parse_toml(**text, file);
  return document && !(*document)["tool"]["uv"]["package"].value_or(true);
}

/// What the project of `file` requires, also for extras; nullopt: only its build knows.
std::optional<std::set<std::string>> required_names(const std::string& file) {
  const auto entries = read_project_requirements({file}, {{}, true});
  if (!entries) return std::nullopt;
  std::set<std::string> names;
  add_names(*entries, names);
  return names;
}

/// What a project in a folder assigns to what it requires counts, where `settings` say nothing of
/// that package; so do those of the projects in these folders.
Outcome<void> add_nested_sources(Settings& settings) {
  std::set<std::string> known;
  for (const PackageSource& source : settings.sources) known.insert(source.package);
  std::set<std::string> read;
  AssignedPackages nested;
  for (std::size_t i = 0; i < settings.sources.size(); ++i) {
    const std::string file = project_file_of(settings.sources[i]);
    const bool relative = settings.sources[i].relative;
    if (file.empty()) continue;
    if (is_no_package(file)) {
      settings.sources[i].url.clear();
      settings.sources[i].unsupported =
          fmt::format("a project that is no package ({}: package = false)", file);
      continue;
    }
    if (!read.insert(file).second) continue;
    AssignedPackages own;
    if (auto taken = assign(file, required_names(file), settings, own); !taken) return taken;
    for (auto& [name, one] : own) {
      if (known.contains(name)) continue;
      // Which of its extras and groups are wanted is not known here.
      std::erase_if(one.sources, [](const GroupSource& row) {
        return !row.source.extra.empty() || !row.source.group.empty();
      });
      const auto [first, is_new] = nested.try_emplace(name, one);
      if (!is_new && places_of(first->second.sources) != places_of(one.sources)) {
        return misused(fmt::format("{} has one source in {} and another one in {}", name,
                                   first->second.file, one.file),
                       "give it one in [tool.uv.sources] of the project itself");
      }
      if (!is_new) continue;
      for (GroupSource& row : one.sources) row.source.relative = row.source.relative && relative;
      add_sources(std::move(one.sources), settings);
    }
  }
  return {};
}

Outcome<void> add_sources_of_files(const std::map<std::string, std::set<std::string>>& by_file,
                                   Settings& settings) {
  const auto project = find_uv_project();
  if (!project) return std::unexpected(project.error());
  AssignedPackages assigned;
  std::set<std::string> of_project;  // what is requested of the configuration's own file
  for (const auto& [file, names] : by_file) {
    if (is_same_file(file, *project)) {
      of_project = names;
    } else if (auto taken = assign(file, names, settings, assigned); !taken) {
      return taken;
    }
  }
  for (auto& [name, one] : assigned) {
    const SourcesOfPackage configured = configured_sources(name, settings);
    if (of_project.contains(name) && !configured.empty() &&
        places_of(configured) != places_of(one.sources))
      return unlike(name, one, *project);
    std::erase_if(settings.sources,
                  [&](const PackageSource& source) { return source.package == name; });
    add_sources(std::move(one.sources), settings);
  }
  return {};
}

}  // namespace

Outcome<void> take_requested_sources(const Arguments& arguments, Settings& settings) {
  if (settings.no_sources) return {};
  std::map<std::string, std::set<std::string>> by_file;
  if (auto named = name_requested(arguments, by_file); !named) return named;
  if (!by_file.empty()) {
    if (auto added = add_sources_of_files(by_file, settings); !added) return added;
  }
  return add_nested_sources(settings);
}

Outcome<std::set<std::string>> packages_with_sources(const std::string& file,
                                                     const Settings& settings) {
  Settings own = settings;
  own.sources.clear();
  AssignedPackages assigned;
  if (auto taken = assign(file, std::nullopt, settings, assigned); !taken)
    return std::unexpected(taken.error());
  for (auto& [name, one] : assigned) add_sources(std::move(one.sources), own);
  if (auto added = add_nested_sources(own); !added) return std::unexpected(added.error());
  std::set<std::string> names;
  for (const PackageSource& source : own.sources) names.insert(source.package);
  return names;
}

}  // namespace axle::session

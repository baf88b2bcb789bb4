#include "session/projects/project_lock.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/system/whole_file.h"
#include "index/http/url.h"
#include "installer/file_access.h"
#include "session/default_index.h"
#include "session/fleet_wishes.h"
#include "session/input_file.h"
#include "session/projects/class_locking.h"
#include "session/settings/setting_table.h"
#include "session/settings/settings.h"
#include "session/settings/uv_project.h"
#include "session/variables.h"
#include "session/version.h"
#include "session/workspace.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_lock = std::uint64_t{64} << 20;

/// "2.8.0+cpu, 2.8.0+cu128" by name. Several files of one version, for several platforms, are one.
std::map<std::string, std::string, std::less<>> versions_of(const plan::Lock* lock) {
  std::map<std::string, std::vector<std::string>, std::less<>> each;
  if (lock != nullptr) {
    for (const plan::LockedPackage& package : lock->packages) {
      std::string one = wheel::render_version(package.version);
      if (package.variant && package.family.empty()) one += fmt::format(" ({})", *package.variant);
      std::vector<std::string>& all = each[package.name];
      if (std::ranges::find(all, one) == all.end()) all.push_back(std::move(one));
    }
  }
  std::map<std::string, std::string, std::less<>> versions;
  for (const auto& [name, all] : each) versions[name] = fmt::format("{}", fmt::join(all, ", "));
  return versions;
}

/// `arguments` with all that the project asks for in place of the part that they name.
Arguments whole_project(const Project& project, Arguments arguments) {
  arguments.positionals.clear();
  for (const Opt part : {Opt::requirement, Opt::group, Opt::extra, Opt::all_extras})
    arguments.remove(part);
  arguments.add(Opt::requirement, project.file);
  // As with uv, the Python of the environment that the project is said to have.
  std::error_code absent;
  if (!project.stated_environment.empty() && !arguments.has(Opt::python) &&
      fs::exists(project.environment_path({}), absent))
    arguments.add(Opt::python, project.environment_path({}));
  if (!project.extras.empty()) arguments.add(Opt::all_extras, "");
  for (const auto& [name, requirements] : project.groups)
    arguments.add(Opt::group, project.file + ":" + name);
  return arguments;
}

char upper_case(char c) {
  if (c == '-') return '_';
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// The option or variable that says something of indexes, the first of several; empty: none does.
std::string stated_indexes(const Arguments& arguments) {
  constexpr std::pair<Opt, std::string_view> about[] = {
      {Opt::index_url, "index-url"},   {Opt::default_index, "default-index"},
      {Opt::index, "index"},           {Opt::extra_index_url, "extra-index-url"},
      {Opt::find_links, "find-links"}, {Opt::no_index, "no-index"}};
  for (const auto& [id, key] : about) {
    if (arguments.has(id)) return option_name(id);
  }
  for (const auto& [id, key] : about) {
    const auto rows = setting_rows();
    const auto row = std::ranges::find(rows, key, &SettingRow::key);
    for (const std::string_view name : names_in(row->variables)) {
      if (!variable(name).empty()) return std::string(name);
    }
    for (const std::string_view name : names_in(row->pip)) {
      std::string pip = "PIP_";
      for (const char c : name) pip += upper_case(c);
      if (!variable(pip).empty()) return pip;
    }
  }
  return {};
}

/// In one spelling: without a login, and without a slash at the end.
std::string place_of(const std::string& place) {
  std::string url = place.contains("://")
                        ? index::without_credentials(place)
                        : index::file_url(fs::absolute(place).lexically_normal().string());
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::vector<std::string> texts_of(const std::vector<FileRequirement>& requirements) {
  std::vector<std::string> texts;
  texts.reserve(requirements.size());
  for (const FileRequirement& one : requirements) texts.push_back(one.text);
  return texts;
}

plan::LockedRequests requests_of(const Project& project) {
  plan::LockedRequests requests{.project = texts_of(project.dependencies)};
  for (const auto& [name, requirements] : project.extras)
    requests.extras[name] = texts_of(requirements);
  for (const auto& [name, requirements] : project.groups)
    requests.groups[name] = texts_of(requirements);
  return requests;
}

/// The packages that [tool.uv.sources] places in a folder by a relative path.
plan::PackageNames placed_relative(const Settings& settings) {
  plan::PackageNames names;
  for (const PackageSource& source : settings.sources) {
    if (source.relative) names.insert(source.package);
  }
  return names;
}

/// Whether or not it is there; empty: the sources are in no folder of this machine.
std::string metadata_path(const Project& project, const plan::BuiltFrom& from, const char* name) {
  const auto folder = index::file_path(plan::absolute_place(from.url, project.folder));
  return folder ? (fs::path(*folder) / from.subdirectory / name).string() : std::string();
}

/// What they are, so that a change of them counts.
std::string metadata_files(const Project& project, const plan::BuiltFrom& from) {
  std::string texts;
  for (const char* name : project_files) {
    const std::string path = metadata_path(project, from, name);
    if (!path.empty()) note_looked_at(path);
    const auto text = installer::read_file(path, largest_lock);
    texts +=
        fmt::format("{} {}\n", name, text ? wheel::render_hex(wheel::sha256(*text)) : "missing");
  }
  // What the root of its workspace says counts for it.
  const fs::path file = metadata_path(project, from, "pyproject.toml");
  const auto root = workspace_of(file.parent_path().string());
  if (!root || *root == file.parent_path().string()) return texts;
  const auto inherited = installer::read_file(*root + "/pyproject.toml", largest_lock);
  if (inherited)
    texts += fmt::format("workspace {}\n", wheel::render_hex(wheel::sha256(*inherited)));
  return texts;
}

/// Those of the class before those of others, which it may not have had yet; what is to be upgraded
/// has none.
PreferredVersions preferred_of(const plan::Lock* before, std::string_view class_name,
                               const PreferredVersions& pins, const Workspace& workspace) {
  PreferredVersions preferred;
  const auto add = [&](const std::string& name, const wheel::Version& version) {
    if (workspace.options.upgrade_of.contains(name)) return;
    std::vector<wheel::Version>& known = preferred[name];
    if (std::ranges::find(known, version) == known.end()) known.push_back(version);
  };
  if (before != nullptr && !workspace.options.upgrade) {
    for (const bool own : {true, false}) {
      for (const plan::LockedPackage& package : before->packages) {
        if (package.is_in(class_name) != own) continue;
        add(package.name,
            package.family.empty() ? package.version : package.version.public_version());
      }
    }
  }
  for (const auto& [name, versions] : pins) {
    for (const wheel::Version& one : versions) add(name, one);
  }
  return preferred;
}

}  // namespace

Outcome<std::string> lock_inputs(const Project& project,
                                 const std::vector<plan::LockedPackage>& packages) {
  const auto document = documents::parse_toml(project.text, project.file);
  if (!document) return misconfigured(document.error());
  toml::table counting;
  const auto take = [&](std::string_view table, std::string_view key) {
    if (const toml::node* node = (*document)[table][key].node())
      counting.insert(fmt::format("{}.{}", table, key), *node);
  };
  for (const char* key : {"name", "requires-python", "dependencies", "optional-dependencies"})
    take("project", key);
  take("tool", "axle");
  take("tool", "uv");
  if (const toml::node* groups = document->get("dependency-groups"))
    counting.insert("dependency-groups", *groups);
  const auto workspace = workspace_of(project.folder);
  if (!workspace) return std::unexpected(workspace.error());
  if (*workspace != project.folder) {
    const std::string file = *workspace + "/pyproject.toml";
    const auto text = installer::read_file(file, largest_lock);
    const auto inherited =
        text ? documents::parse_toml(*text, file) : std::unexpected(text.error());
    if (!inherited) return misconfigured(inherited.error());
    if (const toml::node* uv = (*inherited)["tool"]["uv"].node())
      counting.insert("workspace's tool.uv", *uv);
  }
  for (const MachineClass& about : project.classes) {
    const std::string head = about.machine.substr(0, about.machine.find(';'));
    const std::string path = (fs::path(project.folder) / head).string();
    note_looked_at(path);
    const auto profile = installer::read_file(path, largest_lock);
    if (profile)
      counting.insert("profile " + about.name, wheel::render_hex(wheel::sha256(*profile)));
  }
  for (const plan::LockedPackage& package : packages) {
    if (!package.built_from || package.built_from->kind != plan::BuiltFrom::Kind::folder) continue;
    const plan::BuiltFrom& from = *package.built_from;
    counting.insert(
        fmt::format("sources of {} in {} {}", package.name, from.url, from.subdirectory),
        metadata_files(project, from));
  }
  std::ostringstream text;
  text << toml::json_formatter{counting};
  return wheel::render_hex(wheel::sha256(text.str()));
}

Outcome<bool> is_current(const Project& project, const plan::Lock& lock) {
  const auto inputs = lock_inputs(project, lock.packages);
  if (!inputs) return std::unexpected(inputs.error());
  return *inputs == lock.inputs;
}

Outcome<std::string> foreign_source(const Session& session, const Project& project,
                                    const plan::Lock& lock) {
  const Arguments& arguments = session.arguments();
  const std::string says = stated_indexes(arguments);
  if (says.empty() || arguments.has(Opt::bundle)) return std::string();
  const auto settings = read_settings(arguments, "", session.pip_section());
  if (!settings) return std::unexpected(settings.error());
  std::set<std::string> known;
  bool has_default = settings->no_index;
  for (const ConfiguredIndex& index : settings->indexes) {
    has_default = has_default || index.is_default;
    if (!settings->no_index) known.insert(place_of(index.url));
  }
  for (const Stated& place : settings->find_links) known.insert(place_of(place.value));
  for (const plan::LockedPackage& package : lock.packages) {
    if (package.source.empty() || !package.family.empty()) continue;
    const std::string place = place_of(plan::absolute_place(package.source, project.folder));
    if (known.contains(place)) continue;
    // Asking an interpreter's pip takes longer than all the rest.
    if (!std::exchange(has_default, true)) {
      const auto url = default_index_url("python3", variable("PATH"));
      if (!url) return std::string();
      known.insert(place_of(*url));
      if (known.contains(place)) continue;
    }
    return fmt::format("{} comes from {}, which is none of the places that {} leaves", package.name,
                       place, says);
  }
  return std::string();
}

Outcome<plan::Lock> make_lock(Session& session, const Project& project, const plan::Lock* before,
                              const PreferredVersions& pins, Report& report) {
  for (const Remark& remark : project.unfollowed) report.add(remark);
  plan::Lock lock{.made_by = fmt::format("axle {}", version),
                  .requires_python = project.requires_python,
                  .requests = requests_of(project)};
  RunOptions run;
  Session asking(whole_project(project, session.arguments()), run, report, session.pip_section());
  auto workspace = open_workspace(asking, Purpose::show);
  if (!workspace) return std::unexpected(workspace.error());
  const auto wishes = read_fleet_wishes(
      session.arguments(), {.fewest_builds = project.fewest_builds, .budget = project.budget});
  if (!wishes) return std::unexpected(wishes.error());
  const auto answers = lock_classes(
      session, project, **workspace,
      [&](const MachineClass& about) {
        return preferred_of(before, about.name, pins, **workspace);
      },
      *wishes, report);
  if (!answers) return std::unexpected(answers.error());
  for (const plan::ClassAnswer& answer : *answers) lock.classes.push_back(answer.about);
  lock.packages =
      plan::join_answers(*answers, project.folder, placed_relative((*workspace)->settings));
  auto inputs = lock_inputs(project, lock.packages);
  if (!inputs) return std::unexpected(inputs.error());
  lock.inputs = *std::move(inputs);
  return lock;
}

Outcome<void> write_lock(const Project& project, const plan::Lock& lock) {
  const std::string path = project.lock_path();
  if (const std::error_code error = system::write_whole_file(path, plan::render_lock(lock)))
    return failed({ErrorKind::io, fmt::format("{} cannot be written: {}", path, error.message()),
                   "the old one, if any, is whole"});
  return {};
}

std::vector<LockedChange> compare_locks(const plan::Lock* before, const plan::Lock& after) {
  const auto old = versions_of(before);
  const auto now = versions_of(&after);
  std::set<std::string> names;
  for (const auto& [name, versions] : old) names.insert(name);
  for (const auto& [name, versions] : now) names.insert(name);
  std::vector<LockedChange> changes;
  for (const std::string& name : names) {
    LockedChange change{.name = name};
    if (const auto was = old.find(name); was != old.end()) change.before = was->second;
    if (const auto is = now.find(name); is != now.end()) change.after = is->second;
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace axle::session

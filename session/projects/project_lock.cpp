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
#include "installer/file_access.h"
#include "session/fleet_wishes.h"
#include "session/projects/class_locking.h"
#include "session/version.h"
#include "session/workspace.h"
#include "wheel/hash/sha256.h"

namespace axle::session {

namespace {

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
  if (!project.extras.empty()) arguments.add(Opt::all_extras, "");
  for (const auto& [name, requirements] : project.groups)
    arguments.add(Opt::group, project.file + ":" + name);
  return arguments;
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

Outcome<std::optional<plan::Lock>> read_lock(const Project& project) {
  const std::string path = project.lock_path();
  auto text = installer::read_file(path, largest_lock);
  if (!text) {
    if (text.error().kind == ErrorKind::not_found) return std::optional<plan::Lock>();
    return failed(std::move(text).error());
  }
  auto lock = plan::parse_lock(*text, path);
  if (!lock) return failed(std::move(lock).error());
  return std::optional(*std::move(lock));
}

Outcome<std::string> lock_inputs(const Project& project) {
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
  for (const MachineClass& about : project.classes) {
    const std::string head = about.machine.substr(0, about.machine.find(';'));
    const auto profile =
        installer::read_file((std::filesystem::path(project.folder) / head).string(), largest_lock);
    if (profile)
      counting.insert("profile " + about.name, wheel::render_hex(wheel::sha256(*profile)));
  }
  std::ostringstream text;
  text << toml::json_formatter{counting};
  return wheel::render_hex(wheel::sha256(text.str()));
}

Outcome<bool> is_current(const Project& project, const plan::Lock& lock) {
  const auto inputs = lock_inputs(project);
  if (!inputs) return std::unexpected(inputs.error());
  return *inputs == lock.inputs;
}

Outcome<plan::Lock> make_lock(Session& session, const Project& project, const plan::Lock* before,
                              const PreferredVersions& pins, Report& report) {
  for (const Remark& remark : project.unfollowed) report.add(remark);
  plan::Lock lock{.made_by = fmt::format("axle {}", version),
                  .requires_python = project.requires_python,
                  .requests = requests_of(project)};
  auto inputs = lock_inputs(project);
  if (!inputs) return std::unexpected(inputs.error());
  lock.inputs = *std::move(inputs);
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
  lock.packages = plan::join_answers(*answers, project.folder);
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

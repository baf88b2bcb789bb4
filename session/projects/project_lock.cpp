#include "session/projects/project_lock.h"

#include <algorithm>
#include <filesystem>
#include <memory>
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
#include "resolver/classes/class_solver.h"
#include "resolver/request/source_url.h"
#include "session/projects/class_choice.h"
#include "session/projects/class_machine.h"
#include "session/projects/wheel_hashes.h"
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

CommandFailure in_class(const MachineClass& about, CommandFailure failure) {
  failure.error.message = fmt::format("class {}: {}", about.name, failure.error.message);
  return failure;
}

/// Whether something that is asked for is built on the machine that locks.
bool builds_something(const Workspace& workspace) {
  const resolver::BuildConsent& builds = workspace.options.builds;
  return builds.all || !builds.names.empty() ||
         std::ranges::any_of(workspace.requests.requirements, [](const resolver::Request& one) {
           const std::string& url = one.requirement.url;
           const auto source = resolver::parse_source_url(url);
           return !url.empty() && source && source->kind != resolver::SourceUrl::Kind::wheel;
         });
}

/// Solves the classes of one project, those that have all but the machine in common by one solver.
class ClassLocking {
 public:
  ClassLocking(Session& session, const Project& project, Workspace& workspace, Report& report)
      : session_(session),
        project_(project),
        workspace_(workspace),
        report_(report),
        hashes_(*workspace.transport, report) {}

  [[nodiscard]] Outcome<plan::ClassAnswer> solve(const MachineClass& about,
                                                 PreferredVersions preferred) {
    auto machine = machine_of(about, project_, session_);
    if (!machine) return std::unexpected(machine.error());
    const bool here = is_this_machine(about.machine);
    auto group = group_for(about, here, std::move(preferred));
    if (!group) return std::unexpected(group.error());
    auto solved = (*group)->solver->solve(machine->machine);
    if (!solved) return failed_to_resolve(solved.error());
    if (auto complete = hashes_.complete(solved->resolution); !complete)
      return failed(std::move(complete).error());
    if (workspace_.attestations != nullptr) {
      if (auto good = workspace_.attestations->check(solved->resolution); !good)
        return failed(std::move(good).error());
    }
    if (solved->bounded)
      report_.detail(
          fmt::format("class {}: not all machines were tried that might get the same: its "
                      "condition may be stronger than it need be",
                      about.name));
    return plan::ClassAnswer{
        .about = {.name = about.name,
                  .machine = about.machine,
                  .python = (*group)->python,
                  .holds = solved->holds.atoms.empty() ? std::string()
                                                       : resolver::render_predicate(solved->holds)},
        .resolution = std::move(solved->resolution)};
  }

 private:
  /// Classes with one interpreter, one backend and the same versions before.
  struct Group {
    std::string python;
    StatedTarget stated;
    resolver::Options options;
    std::unique_ptr<resolver::ClassSolver> solver = {};
    std::string backend;
    bool builds = false;
    bool plugins = false;
  };

  [[nodiscard]] Outcome<Group*> group_for(const MachineClass& about, bool here,
                                          PreferredVersions preferred) {
    const std::string own = minor_of(workspace_.environment.python_version);
    const std::string python = about.python.empty() ? own : about.python;
    const bool builds = here && python == own && builds_something(workspace_);
    const bool plugins = here && workspace_.options.providers.plugins != nullptr;
    for (const auto& group : groups_) {
      if (group->python == python && group->backend == about.backend && group->builds == builds &&
          group->plugins == plugins && group->options.preferred == preferred)
        return group.get();
    }
    auto made = std::make_unique<Group>(Group{.python = python,
                                              .stated = workspace_.stated,
                                              .options = workspace_.options,
                                              .backend = about.backend,
                                              .builds = builds,
                                              .plugins = plugins});
    if (python != own) {
      Arguments arguments;
      arguments.add(Opt::python_version, python);
      auto stated = read_stated_target(arguments);
      if (!stated) return std::unexpected(stated.error());
      made->stated = *std::move(stated);
    }
    if (!about.backend.empty()) made->options.forced_labels["torch"] = about.backend;
    if (!builds) made->options.builds.builder = nullptr;
    if (!plugins) made->options.providers.plugins = nullptr;
    made->options.preferred = std::move(preferred);
    // A decision is kept for the lock alone: why each build was chosen.
    made->options.whole_decisions = false;
    made->solver = std::make_unique<resolver::ClassSolver>(
        workspace_.requests, made->options, workspace_.sources,
        [environment = &workspace_.environment, stated = &made->stated](
            const detect::Machine& machine) -> std::optional<resolver::Target> {
          if (!machine.os.system.empty() && machine.os.system != "Linux") return std::nullopt;
          return make_target(*environment, *stated, machine, true);
        },
        report_);
    groups_.push_back(std::move(made));
    return groups_.back().get();
  }

  Session& session_;
  const Project& project_;
  Workspace& workspace_;
  Report& report_;
  WheelHashes hashes_;
  std::vector<std::unique_ptr<Group>> groups_;
};

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
  ClassLocking locking(session, project, **workspace, report);
  std::vector<plan::ClassAnswer> answers;
  for (const MachineClass& about : project.classes) {
    auto answer = locking.solve(about, preferred_of(before, about.name, pins, **workspace));
    if (!answer) return std::unexpected(in_class(about, std::move(answer).error()));
    answers.push_back(*std::move(answer));
    lock.classes.push_back(answers.back().about);
  }
  lock.packages = plan::join_answers(answers, project.folder);
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

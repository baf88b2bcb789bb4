#include "session/projects/outdated.h"

#include <algorithm>
#include <map>
#include <utility>

#include "foundation/report/remarks_once.h"
#include "resolver/solver/solver.h"
#include "session/projects/class_machine.h"
#include "session/projects/project_lock.h"
#include "session/workspace.h"

namespace axle::session {

namespace {

using Versions = std::map<std::string, wheel::Version, std::less<>>;

/// Public versions of what a class gets from indexes.
Versions versions_of_class(const plan::Lock& lock, std::string_view class_name) {
  Versions versions;
  for (const plan::LockedPackage& package : lock.packages) {
    if (package.is_in(class_name) && !package.source.empty())
      versions.insert_or_assign(package.name, package.version.public_version());
  }
  return versions;
}

/// Asks for packages by their names alone, for one class.
class NewestVersions {
 public:
  static Outcome<NewestVersions> open(Session& session, const Project& project,
                                      const MachineClass& about, Report& report) {
    auto machine = machine_of(about, project, session);
    if (!machine) return std::unexpected(machine.error());
    Arguments arguments = session.arguments();
    arguments.positionals.clear();
    if (!about.python.empty()) arguments.add(Opt::python_version, about.python);
    RunOptions run;
    Session asking(std::move(arguments), run, report, session.pip_section());
    auto workspace = open_workspace(asking, Purpose::show);
    if (!workspace) return std::unexpected(workspace.error());
    NewestVersions made(*std::move(machine), *std::move(workspace));
    made.elsewhere_ = !is_this_machine(about.machine);
    if (!about.backend.empty()) made.workspace_->options.forced_labels["torch"] = about.backend;
    made.workspace_->options.dependencies = false;
    made.workspace_->options.builds.builder = nullptr;
    return made;
  }

  /// All at once; where one of them cannot be had, each by itself.
  Versions find(const Versions& names) const {
    std::vector<std::string> all;
    for (const auto& [name, version] : names) all.push_back(name);
    if (auto found = ask(all)) return *std::move(found);
    Versions newest;
    for (const std::string& name : all) {
      if (auto found = ask({name})) newest.merge(*found);
    }
    return newest;
  }

 private:
  NewestVersions(machines::NamedMachine machine, std::unique_ptr<Workspace> workspace)
      : machine_(std::move(machine)), workspace_(std::move(workspace)) {}

  [[nodiscard]] std::optional<Versions> ask(const std::vector<std::string>& names) const {
    resolver::Requests requests;
    for (const std::string& name : names) {
      wheel::Requirement bare;
      bare.name = name;
      requests.requirements.push_back({std::move(bare)});
    }
    const resolver::Target target =
        make_target(workspace_->environment, workspace_->stated, machine_.machine, elsewhere_);
    // What is remarked about such a solution is about none that anybody gets.
    CollectedReport unsaid;
    const auto resolution =
        resolver::resolve(requests, target, {}, workspace_->sources, workspace_->options, unsaid);
    if (!resolution) return std::nullopt;
    Versions versions;
    for (const plan::ResolvedPackage& package : resolution->packages)
      versions.insert_or_assign(package.name, package.version.public_version());
    return versions;
  }

  machines::NamedMachine machine_;
  std::unique_ptr<Workspace> workspace_;
  bool elsewhere_ = false;
};

std::optional<wheel::Version> found_in(const Versions& versions, const std::string& name) {
  const auto found = versions.find(name);
  return found == versions.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Outcome<std::vector<OutdatedPackage>> find_outdated(Session& session, const Project& project,
                                                    const plan::Lock& lock, Report& report) {
  RemarksOnce once(report);
  RunOptions run;
  Session asking(session.arguments(), run, once, session.pip_section());
  const auto upgraded = make_lock(asking, project, nullptr, {}, once);
  if (!upgraded) return std::unexpected(upgraded.error());
  std::vector<OutdatedPackage> outdated;
  for (const MachineClass& about : project.classes) {
    const Versions locked = versions_of_class(lock, about.name);
    if (locked.empty()) continue;
    const auto asked = NewestVersions::open(asking, project, about, once);
    if (!asked) return std::unexpected(asked.error());
    const Versions allowed = versions_of_class(*upgraded, about.name);
    const Versions latest = asked->find(locked);
    for (const auto& [name, version] : locked) {
      OutdatedPackage one{name, about.name, version, found_in(allowed, name),
                          found_in(latest, name)};
      const bool is_newest =
          one.allowed && *one.allowed <= version && (!one.latest || *one.latest <= version);
      if (!is_newest) outdated.push_back(std::move(one));
    }
  }
  for (auto next = outdated.begin(); next != outdated.end(); ++next) {
    const auto place =
        std::ranges::upper_bound(outdated.begin(), next, next->name, {}, &OutdatedPackage::name);
    std::rotate(place, next, next + 1);
  }
  return outdated;
}

}  // namespace axle::session

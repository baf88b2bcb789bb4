#include "session/projects/class_locking.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "foundation/report/remarks_once.h"
#include "resolver/classes/class_solver.h"
#include "resolver/classes/python_bounds.h"
#include "resolver/solver/solver.h"
#include "session/builds/source_builds.h"
#include "session/projects/class_choice.h"
#include "session/projects/class_machine.h"
#include "session/projects/wheel_hashes.h"
#include "wheel/system_platform.h"

namespace axle::session {

namespace {

CommandFailure in_class(const MachineClass& about, CommandFailure failure) {
  failure.error.message = fmt::format("class {}: {}", about.name, failure.error.message);
  return failure;
}

/// Wheels are made for them; "": what is not stated is Linux.
bool is_system_of_wheels(std::string_view system) {
  return system.empty() || system == wheel::linux_system || system == wheel::windows_system ||
         system == wheel::mac_system;
}

/// Classes with one interpreter, one backend and the same versions before.
struct ClassGroup {
  std::string python;
  StatedTarget stated;
  resolver::Options options;
  std::unique_ptr<resolver::ClassSolver> solver = {};
  std::string backend;
  bool plugins = false;
};

/// One class, with its machine and what it is solved by.
struct OpenClass {
  const MachineClass* about = nullptr;
  machines::NamedMachine machine;
  PreferredVersions preferred;
  ClassGroup* group = nullptr;
};

class ClassLocking {
 public:
  ClassLocking(Session& session, const Project& project, Workspace& workspace, Report& report)
      : session_(session),
        project_(project),
        workspace_(workspace),
        report_(report),
        hashes_(*workspace.transport, report),
        allowed_(wheel::parse_specifiers(project.requires_python).value_or(wheel::SpecifierSet())) {
    if (workspace.source_builds != nullptr)
      metadata_.emplace(workspace.source_builds->setup(), SourceBuilds::Product::metadata);
  }

  [[nodiscard]] Outcome<void> open(const MachineClass& about, PreferredVersions preferred) {
    auto machine = machine_of(about, project_, session_);
    if (!machine) return std::unexpected(machine.error());
    OpenClass opened{
        .about = &about, .machine = *std::move(machine), .preferred = std::move(preferred)};
    auto group = group_for(opened, {});
    if (!group) return std::unexpected(group.error());
    opened.group = *group;
    classes_.push_back(std::move(opened));
    return {};
  }

  /// The builds that each class does without, because of what is wished of all of them.
  [[nodiscard]] std::vector<Outcome<resolver::WithheldBuilds>> withheld(
      const FleetWishes& wishes) const {
    std::vector<FleetMachine> machines;
    for (const OpenClass& one : classes_)
      machines.push_back({fmt::format("class {}", one.about->name), one.about->budget});
    return withheld_builds(
        machines, wishes,
        [this](std::size_t index, const resolver::WithheldBuilds& without) {
          return solve_once(classes_[index], without);
        },
        report_);
  }

  [[nodiscard]] Outcome<plan::ClassAnswer> solve(std::size_t index,
                                                 const resolver::WithheldBuilds& withheld) {
    OpenClass& one = classes_[index];
    const MachineClass& about = *one.about;
    const auto group = group_for(one, withheld);
    if (!group) return std::unexpected(group.error());
    auto solved = (*group)->solver->solve(one.machine.machine);
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
                  .holds = resolver::render_predicate(solved->holds),
                  .python_releases = releases_of(**group, solved->python_releases)},
        .resolution = std::move(solved->resolution)};
  }

 private:
  /// Of a Python that is not here: which patch releases there will be nobody knows.
  [[nodiscard]] std::string assumed_release(const std::string& minor) const {
    return newest_release(minor, allowed_).value_or(minor + ".0");
  }

  /// As far as the project allows them.
  [[nodiscard]] std::string releases_of(const ClassGroup& group, std::string solved) const {
    const std::string own = minor_of(workspace_.environment.python_version);
    const wheel::Version python = group.python == own
                                      ? workspace_.environment.python_version
                                      : *wheel::parse_version(assumed_release(group.python));
    resolver::PythonBounds bounds;
    bounds.note(allowed_, python);
    std::string allowed = bounds.releases_around(python);
    if (!allowed.empty() && !solved.empty()) solved += ",";
    return solved + allowed;
  }

  [[nodiscard]] resolver::Target target_on(const detect::Machine& machine,
                                           const ClassGroup& group) const {
    resolver::Target target = make_target(workspace_.environment, group.stated, machine, true);
    target.assumed_release = group.python != minor_of(workspace_.environment.python_version);
    return target;
  }

  /// Without the condition under which the answer holds.
  [[nodiscard]] std::expected<plan::Resolution, resolver::Unresolved> solve_once(
      const OpenClass& one, const resolver::WithheldBuilds& withheld) const {
    resolver::Options options = one.group->options;
    options.withheld = withheld;
    CollectedReport unread;
    const resolver::Target target = target_on(one.machine.machine, *one.group);
    return resolver::resolve(workspace_.requests, target, {}, workspace_.sources, options, unread);
  }

  [[nodiscard]] Outcome<ClassGroup*> group_for(const OpenClass& one,
                                               const resolver::WithheldBuilds& withheld) {
    const MachineClass& about = *one.about;
    const bool here = is_this_machine(about.machine);
    const std::string own = minor_of(workspace_.environment.python_version);
    const std::string python = about.python.empty() ? own : about.python;
    const bool plugins = here && workspace_.options.providers.plugins != nullptr;
    for (const auto& group : groups_) {
      if (group->python == python && group->backend == about.backend && group->plugins == plugins &&
          group->options.preferred == one.preferred && group->options.withheld == withheld)
        return group.get();
    }
    wheel::Version release = workspace_.environment.python_version;
    release.pre.reset();
    release.dev.reset();
    if (python == own && !allowed_.contains(release))
      return failed({ErrorKind::unsupported,
                     fmt::format("it is for Python {}, and requires-python is {}",
                                 wheel::render_version(release), project_.requires_python),
                     "name another one with --python, or change requires-python"});
    auto made = std::make_unique<ClassGroup>(ClassGroup{.python = python,
                                                        .stated = workspace_.stated,
                                                        .options = workspace_.options,
                                                        .backend = about.backend,
                                                        .plugins = plugins});
    if (python != own) {
      Arguments arguments;
      arguments.add(Opt::python_version, assumed_release(python));
      auto stated = read_stated_target(arguments);
      if (!stated) return std::unexpected(stated.error());
      made->stated = *std::move(stated);
    }
    if (!about.backend.empty()) made->options.forced_labels["torch"] = about.backend;
    // What sources are built into is decided where they are installed.
    made->options.builds.builder = metadata_ ? &*metadata_ : nullptr;
    made->options.builds.metadata_alone = true;
    if (!plugins) made->options.providers.plugins = nullptr;
    made->options.preferred = one.preferred;
    made->options.withheld = withheld;
    // A decision is kept for the lock alone: why each build was chosen.
    made->options.whole_decisions = false;
    made->solver = std::make_unique<resolver::ClassSolver>(
        workspace_.requests, made->options, workspace_.sources,
        [this,
         group = made.get()](const detect::Machine& machine) -> std::optional<resolver::Target> {
          if (!is_system_of_wheels(machine.os.system)) return std::nullopt;
          return target_on(machine, *group);
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
  std::optional<SourceBuilds> metadata_;  ///< nullopt: nothing can be built
  wheel::SpecifierSet allowed_;           ///< the project's requires-python
  std::vector<OpenClass> classes_;
  std::vector<std::unique_ptr<ClassGroup>> groups_;
};

}  // namespace

Outcome<std::vector<plan::ClassAnswer>> lock_classes(
    Session& session, const Project& project, Workspace& workspace,
    const std::function<PreferredVersions(const MachineClass&)>& preferred_of,
    const FleetWishes& wishes, Report& report) {
  // Classes of one machine, for several Pythons, assume the same of it.
  RemarksOnce once(report);
  RunOptions run;
  Session asking(session.arguments(), run, once, session.pip_section());
  ClassLocking locking(asking, project, workspace, once);
  bool limited = wishes.any();
  for (const MachineClass& about : project.classes) {
    if (auto opened = locking.open(about, preferred_of(about)); !opened)
      return std::unexpected(in_class(about, std::move(opened).error()));
    limited = limited || about.budget;
  }
  std::vector<Outcome<resolver::WithheldBuilds>> withheld(project.classes.size());
  if (limited) withheld = locking.withheld(wishes);
  std::vector<plan::ClassAnswer> answers;
  for (std::size_t index = 0; index < project.classes.size(); ++index) {
    const MachineClass& about = project.classes[index];
    if (!withheld[index]) return std::unexpected(in_class(about, withheld[index].error()));
    report.progress({fmt::format("solving class {}", about.name), 0, 0});
    auto answer = locking.solve(index, *withheld[index]);
    if (!answer) return std::unexpected(in_class(about, std::move(answer).error()));
    answers.push_back(*std::move(answer));
  }
  return answers;
}

}  // namespace axle::session

#include "session/projects/locked_edit.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "session/projects/project.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

/// The names, normalised, of what was added without version or URL.
std::set<std::string> free_names(const ProjectEdit& edit) {
  std::set<std::string> names;
  for (const std::string& text : edit.changed) {
    const auto requirement = wheel::parse_requirement(text);
    if (requirement && requirement->specifiers.empty() && requirement->url.empty())
      names.insert(wheel::normalize_name(requirement->name));
  }
  return names;
}

/// The lowest version of each that a class is locked to.
std::map<std::string, std::string, std::less<>> lowest_versions(
    const plan::Lock& lock, const std::set<std::string>& names) {
  std::map<std::string, wheel::Version, std::less<>> lowest;
  for (const plan::LockedPackage& package : lock.packages) {
    if (!names.contains(package.name)) continue;
    const auto [known, is_new] = lowest.try_emplace(package.name, package.version.public_version());
    if (!is_new && package.version.public_version() < known->second)
      known->second = package.version.public_version();
  }
  std::map<std::string, std::string, std::less<>> versions;
  for (const auto& [name, version] : lowest) versions[name] = wheel::render_version(version);
  return versions;
}

Outcome<Project> parse_edited(const ProjectEdit& edit) {
  auto project = parse_project(edit.new_text, edit.file);
  if (!project) return misconfigured(std::move(project).error());
  return *std::move(project);
}

/// The text is written and locked.
class EditLocking {
 public:
  EditLocking(Session& session, ProjectEdit& edit, const Pins& pins, Report& report)
      : asking_(project_arguments(session.arguments()), run_, report, session.pip_section()),
        edit_(edit),
        pins_(pins),
        report_(report) {}

  Outcome<LockedEdit> lock(const RequirementList* bounded) {
    auto project = parse_edited(edit_);
    if (!project) return std::unexpected(project.error());
    auto before = read_lock(*project);
    if (!before) return std::unexpected(before.error());
    old_ = *std::move(before);
    auto made = make_lock(asking_, *project, old_ ? &*old_ : nullptr, pins_, report_);
    if (!made) return std::unexpected(made.error());
    if (bounded != nullptr) {
      auto again = bound(*bounded, *made);
      if (!again) return std::unexpected(again.error());
      if (*again) made = **std::move(again);
    }
    if (auto written = write_lock(*project, *made); !written)
      return std::unexpected(written.error());
    return LockedEdit{*made, compare_locks(old_ ? &*old_ : nullptr, *made)};
  }

 private:
  /// What the session was given of requirements is in the project now.
  static Arguments project_arguments(Arguments arguments) {
    arguments.positionals.clear();
    arguments.remove(Opt::requirement);
    return arguments;
  }

  /// Locks once more, with the bounds, which change nothing of the answer but what it is for;
  /// nullopt: there is nothing to bound.
  Outcome<std::optional<plan::Lock>> bound(const RequirementList& list, const plan::Lock& made) {
    const std::string unbounded = edit_.new_text;
    const auto versions = lowest_versions(made, free_names(edit_));
    if (auto done = bound_requirements(edit_, list, versions); !done)
      return failed(std::move(done).error());
    if (edit_.new_text == unbounded) return std::nullopt;
    if (auto written = write_edit({edit_.file, unbounded, edit_.new_text}); !written) {
      edit_.new_text = unbounded;
      return failed(std::move(written).error());
    }
    const auto project = parse_edited(edit_);
    if (!project) return std::unexpected(project.error());
    // What there is to say of the answer was said of the first one.
    CollectedReport unsaid;
    auto again = make_lock(asking_, *project, &made, pins_, unsaid);
    if (!again) return std::unexpected(again.error());
    return std::optional(*std::move(again));
  }

  RunOptions run_;
  Session asking_;
  ProjectEdit& edit_;
  const Pins& pins_;
  Report& report_;
  std::optional<plan::Lock> old_;
};

}  // namespace

Outcome<LockedEdit> lock_edit(Session& session, ProjectEdit& edit, const RequirementList* bounded,
                              const Pins& pins, Report& report) {
  if (auto written = write_edit(edit); !written) return failed(std::move(written).error());
  auto locked = EditLocking(session, edit, pins, report).lock(bounded);
  if (locked) return locked;
  if (auto back = take_back(edit); !back) {
    report.warn(back.error().message, "its change was not taken back, since it cannot be locked");
  }
  return locked;
}

}  // namespace axle::session

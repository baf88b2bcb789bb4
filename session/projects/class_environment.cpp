#include "session/projects/class_environment.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/system/shell_command.h"
#include "foundation/system/whole_file.h"
#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"
#include "installer/environment/new_environment.h"
#include "installer/file_access.h"
#include "session/input_file.h"
#include "session/projects/class_choice.h"
#include "session/variables.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// `python`: an interpreter, an environment's folder, or a name like "3.12".
Result<installer::Environment> environment_of(const std::string& python, const Session& session) {
  installer::EnvironmentRequest request;
  request.python = python;
  std::error_code ignored;
  request.working_dir = fs::current_path(ignored).string();
  request.path = variable("PATH");
  request.cache_folder = session.cache_folder();
  return installer::find_environment(request);
}

/// Beside Axle's other notes about the environment.
std::string note_path(const std::string& folder) { return folder + "/.axle/class"; }

/// The class that the environment in `folder` was made for; empty: that is not known.
std::string noted_class(const std::string& folder) {
  constexpr std::uint64_t longest = 1U << 10;
  note_looked_at(note_path(folder));
  auto text = installer::read_file(note_path(folder), longest);
  if (!text) return {};
  return std::string(text::trim_ascii(*text));
}

/// The interpreter for a new environment of class `about`; nullopt: it has another version.
Outcome<std::optional<std::string>> base_for(const plan::LockedClass& about,
                                             const Session& session) {
  const std::string given = session.arguments().value(Opt::python);
  auto found = environment_of(given.empty() ? about.python : given, session);
  // What is on the path under that name may be no more than a word that there is none.
  if (!found && given.empty()) found = environment_of("python3", session);
  if (!found) {
    if (given.empty()) return std::optional<std::string>();
    return failed(found.error());
  }
  if (!is_for_python(about, found->python_version)) return std::optional<std::string>();
  return std::optional(found->python);
}

/// nullopt: its environment, or the interpreter for a new one, is for another Python.
Outcome<std::optional<ClassEnvironment>> environment_for(const plan::LockedClass& about,
                                                         const Project& project,
                                                         const Session& session) {
  ClassEnvironment chosen{.about = &about, .folder = project.environment_path(about.name)};
  std::error_code error;
  // A link may lead elsewhere later.
  note_looked_at(chosen.folder);
  if (!fs::exists(chosen.folder, error)) {
    auto base = base_for(about, session);
    if (!base) return std::unexpected(base.error());
    if (!*base) return std::optional<ClassEnvironment>();
    chosen.base_python = **std::move(base);
    return std::optional(std::move(chosen));
  }
  auto there = environment_of(chosen.folder, session);
  if (!there) return failed(there.error());
  if (!is_for_python(about, there->python_version)) return std::optional<ClassEnvironment>();
  chosen.there = *std::move(there);
  return std::optional(std::move(chosen));
}

CommandFailure no_such_class(const plan::Lock& lock, const std::string& named) {
  std::vector<std::string> names;
  names.reserve(lock.classes.size());
  for (const plan::LockedClass& one : lock.classes) names.push_back(one.name);
  return misused(fmt::format("{} has no class `{}`", plan::lock_filename, named),
                 text::suggest(named, names, "it has " + text::joined_by_or(names)))
      .error();
}

/// Every class that holds on the machine is for another Python.
CommandFailure other_python(const Project& project, const ClassVerdict& verdict,
                            const Session& session) {
  const plan::LockedClass& about = *verdict.about;
  const std::string folder = project.environment_path(about.name);
  std::error_code error;
  const bool there = fs::exists(folder, error);
  const std::string given = session.arguments().value(Opt::python);
  return {{ErrorKind::unsupported,
           there ? fmt::format("class {} is for Python {}, and {} has another", about.name,
                               render_python(about), folder)
                 : fmt::format("class {} is for Python {}, which is not {}", about.name,
                               render_python(about), given.empty() ? "on PATH" : given),
           !about.python_releases.empty()
               ? fmt::format("install such a release and name it with --python{}, or lock for the "
                             "one that is here: `variant lock --upgrade --python PYTHON`",
                             there ? fmt::format(" after `rm -r {}`", shell_word(folder)) : "")
           : there ? fmt::format("remove it, `rm -r {}`, or lock a class for its Python",
                                 shell_word(folder))
                   : fmt::format("install Python {}, name it with --python, or lock a class for "
                                 "another one: `python = \"3.N\"` in [tool.axle.machines]",
                                 about.python)},
          exit_misfit};
}

}  // namespace

Outcome<ClassEnvironment> choose_class(Session& session, const Project& project,
                                       const plan::Lock& lock, const detect::Machine& machine,
                                       const std::string& named) {
  if (!named.empty() && lock.find_class(named) == nullptr)
    return std::unexpected(no_such_class(lock, named));
  const auto gpus = session.gpu_policy();
  if (!gpus) return std::unexpected(gpus.error());
  const auto all = judge_classes(lock, machine, *gpus, nullptr);
  if (!all) return failed(all.error());
  std::vector<ClassVerdict> verdicts;
  for (const ClassVerdict& one : *all) {
    if (named.empty() || one.about->name == named) verdicts.push_back(one);
  }
  const ClassVerdict* first = nullptr;
  for (const ClassVerdict& verdict : verdicts) {
    if (!verdict.holds()) continue;
    auto chosen = environment_for(*verdict.about, project, session);
    if (!chosen) return std::unexpected(chosen.error());
    if (*chosen) return **std::move(chosen);
    if (first == nullptr) first = &verdict;
  }
  if (first != nullptr) return std::unexpected(other_python(project, *first, session));
  return std::unexpected(no_class_holds(verdicts));
}

Outcome<ClassEnvironment> synced_class(Session& session, const Project& project,
                                       const plan::Lock& lock, const detect::Machine& machine,
                                       const std::string& named) {
  const auto gpus = session.gpu_policy();
  if (!gpus) return std::unexpected(gpus.error());
  for (const plan::LockedClass& one : lock.classes) {
    const std::string folder = project.environment_path(one.name);
    if ((!named.empty() && one.name != named) || noted_class(folder) != one.name) continue;
    auto there = environment_of(folder, session);
    if (!there) return failed(there.error());
    // Of several environments, the one that is for this machine counts.
    const auto verdicts = judge_classes(lock, machine, *gpus, nullptr);
    if (!verdicts) return failed(verdicts.error());
    const bool holds = std::ranges::any_of(*verdicts, [&](const ClassVerdict& verdict) {
      return verdict.about == &one && verdict.holds();
    });
    if (!holds && project.environment_by_class && named.empty()) continue;
    return ClassEnvironment{.about = &one, .folder = folder, .there = *std::move(there)};
  }
  auto chosen = choose_class(session, project, lock, machine, named);
  if (!chosen) return std::unexpected(chosen.error());
  if (!chosen->there) {
    return failed({ErrorKind::not_found, fmt::format("{} does not exist", chosen->folder),
                   "`variant sync` makes it"});
  }
  return chosen;
}

Outcome<void> note_class(const ClassEnvironment& chosen) {
  if (noted_class(chosen.folder) == chosen.about->name) return {};
  const std::string path = note_path(chosen.folder);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (!error) error = system::write_whole_file(path, chosen.about->name + "\n");
  if (!error) return {};
  return failed(
      {ErrorKind::io, fmt::format("{} cannot be written: {}", path, error.message()), {}});
}

Outcome<void> make_environment(ClassEnvironment& chosen, Session& session) {
  if (chosen.there) return {};
  const auto made = installer::make_environment(
      {.python = chosen.base_python, .folder = chosen.folder}, session.report());
  if (!made) return failed(made.error());
  auto there = environment_of(chosen.folder, session);
  if (!there) return failed(there.error());
  chosen.there = *std::move(there);
  return {};
}

}  // namespace axle::session

#pragma once
// The project that a command works on: its pyproject.toml (PEP 621, PEP 735), what [tool.axle] says
// of machine classes, and what of [tool.uv] says the same.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/report.h"
#include "session/command_failure.h"
#include "session/requests/requirements_file.h"
#include "session/settings/machine_classes.h"

namespace axle::session {

/// The files of a project that say what it needs and what its wheel is, whatever its modules are.
inline constexpr std::array project_files = {"pyproject.toml", "setup.cfg", "setup.py"};

struct Project {
  std::string folder;           ///< absolute
  std::string file;             ///< its pyproject.toml, absolute
  std::string text;             ///< of the file
  std::string name;             ///< normalised
  std::string requires_python;  ///< a valid specifier set as written, or empty
  /// All of them are valid (PEP 508); places of files count from `folder`.
  std::vector<FileRequirement> dependencies;
  std::map<std::string, std::vector<FileRequirement>, std::less<>> extras;
  std::map<std::string, std::vector<FileRequirement>, std::less<>> groups;
  /// [tool.axle] or [tool.uv] default-groups, else "dev" if there is one; normalised.
  std::vector<std::string> default_groups;
  /// It has a [build-system] ([tool.uv] package decides otherwise): it is installed itself.
  bool is_package = false;
  /// In the file's order; none stated: one class "default" for "this".
  std::vector<MachineClass> classes;
  /// UV_PROJECT_ENVIRONMENT: the environment instead; relative to `folder`, or absolute.
  std::string stated_environment = {};
  bool environment_by_class = false;         ///< [tool.axle] environments = "by-class": .venv-CLASS
  bool fewest_builds = false;                ///< [tool.axle] minimize = "builds"
  std::optional<std::uint64_t> budget = {};  ///< [tool.axle] budget, in bytes
  /// What [tool.uv] says and a lock of Axle does not follow: for who locks.
  std::vector<Remark> unfollowed;

  [[nodiscard]] std::string lock_path() const;
  /// .venv, .venv-CLASS, or the one that is stated; absolute.
  [[nodiscard]] std::string environment_path(std::string_view class_name) const;
  /// nullptr: there is none of that name, which must be as it is written in the project.
  [[nodiscard]] const MachineClass* find_class(std::string_view class_name) const;
};

/// `file`: its path, absolute. Errors: malformed, with the line: also for dependencies that are
/// dynamic, requirements that are none, a class for a Python that requires-python excludes, a
/// default group that is not there, an unknown key of [tool.axle].
[[nodiscard]] Result<Project> parse_project(std::string text, const std::string& file);

/// The project whose pyproject.toml is in `folder`, absolute; nullopt: there is none with
/// [project]. Error: what is wrong with it, exit 2.
[[nodiscard]] Outcome<std::optional<Project>> open_project_in(const std::string& folder);

/// The nearest pyproject.toml with [project] from the current folder upwards. Errors: usage: there
/// is none (`variant init` makes one); what is wrong with it, exit 2.
[[nodiscard]] Outcome<Project> open_project();

}  // namespace axle::session

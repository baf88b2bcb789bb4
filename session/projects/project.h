#pragma once
// The project that a command works on: its pyproject.toml (PEP 621, PEP 735), what [tool.axle] says
// of machine classes, and what of [tool.uv] says the same.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/command_failure.h"
#include "session/requests/requirements_file.h"
#include "session/session.h"

namespace axle::session {

/// A row of [tool.axle.machines]: `train = "h100"`, or
/// `train = { machine = "h100", python = "3.12", backend = "cu130" }`.
struct MachineClass {
  std::string name;     ///< letters, digits, - and _; not the name of another class, whatever case
  std::string machine;  ///< as of --for; "this": the machine that locks; "none": no accelerator
  std::string python;   ///< "3.12"; empty: the project's environment's, else the newest fitting one
  std::string backend;  ///< as of --torch-backend; empty: what fits
  std::string origin;   ///< "pyproject.toml:12"
};

struct Project {
  std::string folder;  ///< absolute
  std::string file;    ///< its pyproject.toml, absolute
  std::string text;    ///< of the file
  std::string name;    ///< normalised; empty: it has no [project]
  std::string requires_python;
  std::vector<FileRequirement> dependencies;
  std::map<std::string, std::vector<FileRequirement>, std::less<>> extras;
  std::map<std::string, std::vector<FileRequirement>, std::less<>> groups;
  std::vector<std::string> default_groups;  ///< [tool.axle] or [tool.uv] default-groups; else "dev"
  bool is_package =
      false;  ///< it has a [build-system] (or [tool.uv] package = true): installed itself
  /// In the file's order; none stated: one class "default" for "this".
  std::vector<MachineClass> classes;
  bool environment_by_class = false;  ///< [tool.axle] environments = "by-class": .venv-CLASS

  [[nodiscard]] std::string lock_path() const;
  /// .venv, or .venv-CLASS; absolute.
  [[nodiscard]] std::string environment_path(std::string_view class_name) const;
};

/// The nearest pyproject.toml with [project] from the current folder upwards (--project FOLDER:
/// there). Errors: usage: there is none (`variant init` makes one), it is not valid (line, why).
[[nodiscard]] Outcome<Project> open_project(const Session& session);

}  // namespace axle::session

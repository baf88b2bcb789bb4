#pragma once
// Wheels of a project in a folder, made by its own back end through pip or uv, as often as somebody
// wants them with other settings.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/environment/environment.h"
#include "resolver/request/wheel_use.h"
#include "session/builds/build_tool.h"
#include "session/command_failure.h"
#include "session/session.h"
#include "session/settings/settings.h"

namespace axle::session {

struct ProjectBuild {
  std::string project;  ///< the folder; the back end may write to it
  std::string into;     ///< an empty folder
  std::string scratch;  ///< for temporary files
  std::string log;      ///< the output is appended to it
  std::vector<std::pair<std::string, std::string>> variables;
  /// Of the back end, after those of the user; a name may be there repeatedly.
  std::vector<std::pair<std::string, std::string>> config_settings;
  std::string title;  ///< "variant v3", in errors
};

class ProjectWheels {
 public:
  /// For the interpreter that the command line names, else the one that is active, else the
  /// system's. Errors: usage, that there is no interpreter, neither pip nor uv, or that the user
  /// forbids builds.
  [[nodiscard]] static Outcome<std::unique_ptr<ProjectWheels>> open(Session& session);

  /// Several may run at once. Errors: unsupported (it failed or took too long), io, not_found.
  [[nodiscard]] Result<void> build(const ProjectBuild& build, Report& report) const;

  /// What decides what is made, besides the project: interpreter, tool, settings.
  [[nodiscard]] std::string identity() const;
  /// With which the interpreter's own modules are compiled (sysconfig's CFLAGS); "" if it does not
  /// say so.
  [[nodiscard]] std::string compile_flags() const;
  [[nodiscard]] const installer::Environment& environment() const { return environment_; }

 private:
  ProjectWheels() = default;

  installer::Environment environment_;
  Settings settings_;
  resolver::WheelUse wheel_use_;
  BuildTool tool_;
  std::chrono::milliseconds time_limit_{};
};

}  // namespace axle::session

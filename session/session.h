#pragma once
// What every command starts from: its arguments, its report, and the machines in question.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/report.h"
#include "machines/selection.h"
#include "providers/gpu_policy.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

class Session {
 public:
  /// `run`: the command line; the options of requirements files are added to it.
  /// `pip_section`: of pip's files, for the command (settings/configure.h).
  Session(Arguments arguments, RunOptions& run, Report& report,
          std::string_view pip_section = "install")
      : arguments_(std::move(arguments)), run_(run), report_(report), pip_section_(pip_section) {}

  [[nodiscard]] const Arguments& arguments() const { return arguments_; }
  [[nodiscard]] Report& report() { return report_; }
  [[nodiscard]] std::string_view pip_section() const { return pip_section_; }
  void note_options_of_files(const Arguments& options) { run_.files = options; }

  /// Whether `--for`, or a platform that is named, gives other machines.
  [[nodiscard]] bool elsewhere() const {
    return arguments_.has(Opt::for_machine) || arguments_.has(Opt::platform) ||
           arguments_.has(Opt::python_platform);
  }
  /// Reads the machines of `--for`, if given, so that an unknown one ends every command before it
  /// begins; else the one that is nothing but its platform. Errors: usage, also for several
  /// machines without `several`, and for one that is not of the platform; an invalid profile.
  [[nodiscard]] Outcome<void> select_elsewhere(bool several);
  /// These machines, else this one, probed. May be called once.
  [[nodiscard]] Outcome<std::vector<machines::NamedMachine>> machines();
  /// Whether one of those that are selected runs another system than this one.
  [[nodiscard]] bool for_another_system() const { return for_another_system_; }
  /// The first of them: the only machine of a command that does not accept a fleet.
  [[nodiscard]] Outcome<machines::NamedMachine> machine();

  /// --gpu-policy, else AXLE_GPU_POLICY, else all.
  [[nodiscard]] Outcome<providers::GpuPolicy> gpu_policy() const;

  /// --cache-dir, AXLE_CACHE_DIR, XDG_CACHE_HOME/axle or ~/.cache/axle, absolute; "" with
  /// --no-cache, and for a folder that others may write to.
  [[nodiscard]] std::string cache_folder() const;
  /// The same, whether it is there and may be used or not; "" if nothing says where it is.
  [[nodiscard]] std::string cache_place() const;

 private:
  [[nodiscard]] Outcome<std::vector<machines::NamedMachine>> find_machines();
  [[nodiscard]] Outcome<machines::NamedMachine> find_this_machine();

  Arguments arguments_;
  RunOptions& run_;
  Report& report_;
  std::string_view pip_section_;
  std::vector<machines::NamedMachine> selected_;  ///< of --for, until they are requested
  bool for_another_system_ = false;
};

}  // namespace axle::session

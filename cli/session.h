#pragma once
// What every command starts from: its arguments, its output, and the machines that it speaks of.

#include <optional>
#include <string>
#include <vector>

#include "cli/failure.h"
#include "cli/options.h"
#include "cli/output.h"
#include "machines/selection.h"
#include "providers/gpu_policy.h"

namespace axle::cli {

class Session {
 public:
  Session(Arguments arguments, Output& output)
      : arguments_(std::move(arguments)), output_(output) {}

  [[nodiscard]] const Arguments& arguments() const { return arguments_; }
  [[nodiscard]] Output& output() { return output_; }

  /// Whether `--for` puts other machines in the place of this one.
  [[nodiscard]] bool elsewhere() const { return arguments_.has(Opt::for_machine); }
  /// Reads the machines of `--for`, where it is given, so that an unknown one ends every command
  /// before it begins. Errors: usage, also for several where not `several` are taken; a bad
  /// profile.
  [[nodiscard]] Outcome<void> select_elsewhere(bool several);
  /// The machines of `--for`, else this one, probed. To be asked once.
  [[nodiscard]] Outcome<std::vector<machines::NamedMachine>> machines();
  /// The first of them: the one machine of a command that takes no fleet.
  [[nodiscard]] Outcome<machines::NamedMachine> machine();

  /// --gpu-policy, else AXLE_GPU_POLICY, else all.
  [[nodiscard]] Outcome<providers::GpuPolicy> gpu_policy() const;

  /// --cache-dir, AXLE_CACHE_DIR, XDG_CACHE_HOME/axle or ~/.cache/axle, absolute; "" with
  /// --no-cache.
  [[nodiscard]] std::string cache_folder() const;

 private:
  [[nodiscard]] Outcome<std::vector<machines::NamedMachine>> find_machines();
  [[nodiscard]] Outcome<machines::NamedMachine> find_this_machine();
  [[nodiscard]] std::string named_cache_folder() const;

  Arguments arguments_;
  Output& output_;
  std::vector<machines::NamedMachine> selected_;  ///< of --for, until they are asked for
};

}  // namespace axle::cli

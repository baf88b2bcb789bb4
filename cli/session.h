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
  /// The machines of `--for`, else this one, probed.
  [[nodiscard]] Outcome<std::vector<machines::NamedMachine>> machines();
  /// The one machine of a command that takes no fleet.
  [[nodiscard]] Outcome<machines::NamedMachine> machine();

  /// --gpu-policy, else AXLE_GPU_POLICY, else all.
  [[nodiscard]] Outcome<providers::GpuPolicy> gpu_policy() const;

  /// --cache-dir, AXLE_CACHE_DIR, XDG_CACHE_HOME/axle or ~/.cache/axle, absolute; "" with
  /// --no-cache.
  [[nodiscard]] std::string cache_folder() const;

 private:
  [[nodiscard]] Outcome<std::vector<machines::NamedMachine>> find_machines();
  [[nodiscard]] std::string named_cache_folder() const;

  Arguments arguments_;
  Output& output_;
};

}  // namespace axle::cli

#pragma once
// Runs a program with a time limit and a bound on what it may say.

#include <chrono>
#include <string>
#include <vector>

#include "foundation/report/error.h"

namespace axle::installer {

struct ProcessOutput {
  int exit_code = 0;       ///< 128 + signal when one ended it
  bool timed_out = false;  ///< it was killed at the limit
  bool too_long = false;   ///< it was killed for saying more than the bound
  std::string out;
  std::string err;
};

/// `arguments[0]` is the program's path. stdin is empty; environment and folder are inherited. Each
/// stream is bounded by 4 MiB. Error: io (it cannot be started).
[[nodiscard]] Result<ProcessOutput> run_process(const std::vector<std::string>& arguments,
                                                std::chrono::milliseconds limit);

/// For a signal handler: what `run_process` runs, and what that started, ends now.
void kill_running_process();

}  // namespace axle::installer

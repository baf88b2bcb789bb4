#pragma once
// Programs that work for a build: what they print is a detail, and the end of it part of an error.

#include <chrono>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "foundation/system/program_run.h"

namespace axle::session {

struct ToldProgram {
  system::Program program;
  std::string name;  ///< for people: "pip 26.3"
  std::chrono::milliseconds time_limit;
  std::string log = {};  ///< a file to which the output is appended as well; empty: none
};

/// Runs it to its end, with all that it started. Errors: unsupported (it failed or took too long:
/// "`what`: pip 26.3 ended with exit code 1"), io (it cannot be started), not_found (it is not
/// there).
[[nodiscard]] Result<void> run_told(const ToldProgram& told, std::string_view what, Report& report);

}  // namespace axle::session

#pragma once
// Variables of uv's commands for projects. `uv pip` does not read them, so no other command of ours
// does.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "foundation/report/report.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// Adds to `arguments`, of `command`, what the variables say for `options`; nothing, if it is no
/// command on projects. As with uv, the command line counts more: a variable that contradicts it is
/// a warning. Errors: usage: two variables contradict each other, a value is not valid, or Axle
/// does not do what is asked for.
[[nodiscard]] Outcome<void> take_project_variables(std::string_view command,
                                                   std::span<const Opt> options,
                                                   Arguments& arguments, Report& report);

/// How often commands on projects have started each other, this one included, for the next one's
/// UV_RUN_RECURSION_DEPTH. Error: usage: more often than UV_RUN_MAX_RECURSION_DEPTH, else 100; a
/// value that is no number.
[[nodiscard]] Outcome<std::string> next_run_depth();

}  // namespace axle::session

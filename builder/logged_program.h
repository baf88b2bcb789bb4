#pragma once
// Programs of a build, with their output in a log.

#include <functional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/system/program_run.h"

namespace axle::builder {

/// The exit status; 128 + N after signal N. Both outputs are appended to `log`; empty: dropped. No
/// time limit; an interruption of this program ends it and what it started. `on_line` hears each
/// line of its output without the end. Errors: not_found (no such program), io.
[[nodiscard]] Result<int> run_logged(const system::Program& program, const std::string& log,
                                     const std::function<void(std::string_view)>& on_line = {});

/// The last `count` lines of a file, as far as it can be read.
[[nodiscard]] std::string last_lines(const std::string& path, std::size_t count);

}  // namespace axle::builder

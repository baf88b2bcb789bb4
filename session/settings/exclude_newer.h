#pragma once
// The times that --exclude-newer takes, as uv and pip (--uploaded-prior-to) write them.

#include <chrono>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::session {

/// RFC 3339 ("2026-11-22T08:00:00Z"), a date ("2026-11-22": up to the end of that day, local time,
/// as uv has it), or how long before `now`: "3 days", "24 hours", ISO 8601 ("P7D", "PT24H").
/// What comes out is UTC with microseconds, so that text compares as time does. Error: malformed.
[[nodiscard]] Result<std::string> parse_cutoff(std::string_view text, std::chrono::sys_seconds now);

/// What pip's --uploaded-prior-to says, for parse_cutoff: a date is the beginning of its day there.
[[nodiscard]] std::string pip_cutoff(std::string_view text);

}  // namespace axle::session

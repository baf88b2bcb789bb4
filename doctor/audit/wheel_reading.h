#pragma once
// A wheel as an audit sees it: all of its bytes are unpacked in memory, compared with RECORD, and
// its libraries read. Nothing is written.

#include <string>

#include "doctor/audit/audited.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::doctor {

/// Errors: not_found, io. What else is wrong with it is in Audited::faults.
[[nodiscard]] Result<Audited> read_audited_wheel(const std::string& path, Report& report);

/// How many of the files, largest first, may be in memory at once; at least 1.
[[nodiscard]] unsigned readers_for(const std::vector<std::uint64_t>& largest_first,
                                   unsigned processors);

}  // namespace axle::doctor

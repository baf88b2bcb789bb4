#pragma once
// The netrc file: user names and passwords by host, shared by curl, git, pip and uv.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/http/transport.h"

namespace axle::index {

/// `where` is named in errors. Macros are skipped, as are entries without a password. Error:
/// malformed, with the line.
[[nodiscard]] Result<std::vector<NetrcEntry>> parse_netrc(std::string_view text,
                                                          const std::string& where);

/// Errors: not_found, io (also for more than 1 MiB), malformed.
[[nodiscard]] Result<std::vector<NetrcEntry>> read_netrc(const std::string& path);

}  // namespace axle::index

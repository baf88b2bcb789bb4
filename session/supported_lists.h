#pragma once
// Supported lists as the user writes them: {ns: {feature: [value, …]}}, bare or as `properties
// --json` prints it; order counts.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "resolver/request/supported_properties.h"

namespace axle::session {

/// Error: malformed, naming `where` and the key.
[[nodiscard]] Result<resolver::SupportedProperties> parse_supported_lists(std::string_view json,
                                                                          std::string_view where);

/// Those in a file, or on stdin for "-". Errors of `read_input` as well.
[[nodiscard]] Result<resolver::SupportedProperties> read_supported_lists(const std::string& path);

}  // namespace axle::session

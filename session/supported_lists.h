#pragma once
// Supported lists in the user's form: {ns: {feature: [value, …]}}, bare or as `properties --json`
// prints it; the order is significant.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "resolver/request/supported_properties.h"

namespace axle::session {

/// Error: malformed, with `where` and the key.
[[nodiscard]] Result<resolver::SupportedProperties> parse_supported_lists(std::string_view json,
                                                                          std::string_view where);

/// The lists in a file, or on stdin for "-". Also the errors of `read_input`.
[[nodiscard]] Result<resolver::SupportedProperties> read_supported_lists(const std::string& path);

}  // namespace axle::session

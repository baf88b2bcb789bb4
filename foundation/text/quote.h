#pragma once
// Quotes untrusted text for an error message: escaped, quoted, and at most one line.

#include <string>
#include <string_view>

namespace axle::text {

/// `text` in double quotes with control characters (and bytes that are not UTF-8) escaped;
/// truncated after 80 bytes with "…".
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace axle::text

#pragma once
// How hostile text stands in an error message: escaped, quoted, and never longer than a line.

#include <string>
#include <string_view>

namespace axle::text {

/// `text` in double quotes with control characters (and what is not UTF-8) escaped; cut after 80
/// bytes with "…".
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace axle::text

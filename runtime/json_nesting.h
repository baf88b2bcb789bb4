#pragma once
// What is looked at before nlohmann-json makes a tree of a text that comes from elsewhere.

#include <string>
#include <string_view>

#include "runtime/result.h"

namespace axle::runtime {

/// AXLE_MALFORMED for brackets nested deeper than 64: copies and comparisons of such a tree are
/// recursive, and end the program. Also for a NUL, which the parser takes for the end of the text.
/// Whether it is JSON at all is left to the parser.
[[nodiscard]] Result<void> check_json_nesting(std::string_view text, const std::string& where);

}  // namespace axle::runtime

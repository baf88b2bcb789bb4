#pragma once
// Text for a terminal of 80 columns.

#include <cstddef>
#include <string>
#include <string_view>

namespace axle::cli {

/// `text` broken at spaces so that no line is longer than 80 columns, the first of which begins at
/// column `indent`; further lines are indented accordingly. A longer word is not broken. Without
/// colours: paint the result.
[[nodiscard]] std::string wrap_text(std::string_view text, std::size_t indent);

}  // namespace axle::cli

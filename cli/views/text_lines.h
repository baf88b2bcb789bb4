#pragma once
// Text for a terminal of 80 columns.

#include <cstddef>
#include <string>
#include <string_view>

namespace axle::cli {

/// `text` broken at spaces so that no line is longer than 80 columns, the first of which begins at
/// column `indent`; further lines are indented by as much. A longer word stays whole. Without
/// colours: paint what comes out.
[[nodiscard]] std::string wrap_text(std::string_view text, std::size_t indent);

}  // namespace axle::cli

#pragma once
// UTF-8 as names in archives and text files must have it.

#include <string>
#include <string_view>

namespace axle::text {

/// Well-formed UTF-8: shortest forms only, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_valid_utf8(std::string_view text);
/// `text` with U+FFFD in place of every byte that is not part of a well-formed sequence.
[[nodiscard]] std::string mend_utf8(std::string_view text);

}  // namespace axle::text

#pragma once
// The only reader of UTF-8.

#include <cstddef>
#include <string>
#include <string_view>

namespace axle::text {

struct CodePoint {
  char32_t code = 0;
  std::size_t length = 0;  ///< in bytes; 0: the text does not begin with well-formed UTF-8
};

/// For a text that is not empty.
[[nodiscard]] CodePoint first_code_point(std::string_view text);

/// Well-formed UTF-8: shortest forms only, no surrogates, nothing above U+10FFFF.
[[nodiscard]] bool is_valid_utf8(std::string_view text);
/// `text` with U+FFFD in place of every byte that is not part of a well-formed sequence.
[[nodiscard]] std::string repair_utf8(std::string_view text);

}  // namespace axle::text

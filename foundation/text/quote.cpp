#include "foundation/text/quote.h"

#include <fmt/format.h>

#include "foundation/text/utf8.h"

namespace axle::text {

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string_view shown = text.substr(0, kLongest);
  // Truncation must not leave half a UTF-8 sequence.
  while (shown.size() < text.size() && !shown.empty() &&
         (static_cast<unsigned char>(text[shown.size()]) & 0xC0U) == 0x80U) {
    shown.remove_suffix(1);
  }
  const bool readable = is_valid_utf8(shown);
  std::string quoted = "\"";
  for (const char character : shown) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte == '"' || byte == '\\') {
      quoted += '\\';
      quoted += character;
    } else if (byte < 0x20 || byte == 0x7F || (byte > 0x7F && !readable)) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += character;
    }
  }
  quoted += '"';
  if (shown.size() < text.size()) quoted += "…";
  return quoted;
}

}  // namespace axle::text

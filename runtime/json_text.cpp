#include "runtime/json_text.h"

namespace axle::runtime {

void append_json_string(std::string& to, std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  to += '"';
  for (const char character : text) {
    const unsigned char byte = static_cast<unsigned char>(character);
    if (byte < 0x20) {
      to += "\\u00";
      to += digits[byte >> 4U];
      to += digits[byte & 15U];
    } else {
      if (character == '"' || character == '\\') to += '\\';
      to += character;
    }
  }
  to += '"';
}

}  // namespace axle::runtime

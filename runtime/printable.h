#pragma once
// Which bytes of a text are shown as they are: printable UTF-8.

#include <cstddef>
#include <string_view>

namespace axle::runtime {

/// Bytes of the printable character at the beginning of `text`, by the table of well-formed
/// sequences of the Unicode Standard, 3.9; 0 if there is none.
[[nodiscard]] constexpr std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const auto follows = [&](std::size_t at, unsigned least, unsigned most) {
    return byte(at) >= least && byte(at) <= most;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  // U+0080 to U+009F are control characters as well.
  if (lead <= 0xdf) return lead >= 0xc2 && follows(1, lead == 0xc2 ? 0xa0 : 0x80, 0xbf) ? 2 : 0;
  if (!follows(2, 0x80, 0xbf)) return 0;
  if (lead <= 0xef)
    return follows(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) ? 3 : 0;
  const bool fits = follows(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
  return lead <= 0xf4 && fits && follows(3, 0x80, 0xbf) ? 4 : 0;
}

}  // namespace axle::runtime

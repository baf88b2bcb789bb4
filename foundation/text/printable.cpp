#include "foundation/text/printable.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/utf8.h"

namespace axle::text {

namespace {

/// Ranges of code points that are invisible or change the order of others (Unicode 15:
/// Bidi_Control, Default_Ignorable_Code_Point, line and paragraph separators; C0, C1 and DEL).
constexpr std::array<std::pair<char32_t, char32_t>, 17> hidden = {{{0x00, 0x08},
                                                                   {0x0b, 0x1f},
                                                                   {0x7f, 0x9f},
                                                                   {0xad, 0xad},
                                                                   {0x34f, 0x34f},
                                                                   {0x61c, 0x61c},
                                                                   {0x115f, 0x1160},
                                                                   {0x17b4, 0x17b5},
                                                                   {0x180b, 0x180f},
                                                                   {0x200b, 0x200f},
                                                                   {0x2028, 0x202e},
                                                                   {0x2060, 0x206f},
                                                                   {0x3164, 0x3164},
                                                                   {0xfeff, 0xfeff},
                                                                   {0xffa0, 0xffa0},
                                                                   {0xfff0, 0xfffb},
                                                                   {0xe0000, 0xe0fff}}};

std::size_t kept_length(std::string_view text, std::span<const std::string_view> kept) {
  for (const std::string_view sequence : kept) {
    if (text.starts_with(sequence)) return sequence.size();
  }
  return 0;
}

std::string json_escape(char32_t code) {
  if (code < 0x10000) return fmt::format("\\u{:04x}", static_cast<unsigned>(code));
  const unsigned rest = static_cast<unsigned>(code) - 0x10000;
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

}  // namespace

bool is_hidden(char32_t code) {
  if (code >= ' ' && code <= '~') return false;
  return std::ranges::any_of(
      hidden, [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string printable(std::string_view text, std::span<const std::string_view> kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = kept_length(text, kept);
    if (length > 0) {
      out += text.substr(0, length);
    } else if (const CodePoint point = first_code_point(text); point.length == 0) {
      length = 1;
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else {
      length = point.length;
      if (!is_hidden(point.code)) {
        out += text.substr(0, length);
      } else if (point.code < 0x100) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned>(point.code));
      } else {
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(point.code));
      }
    }
    text.remove_prefix(length);
  }
  return out;
}

std::string printable_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    // Nearly all of it is plain.
    const std::size_t plain =
        std::ranges::find_if_not(json, [](char c) { return c >= ' ' && c <= '~'; }) - json.begin();
    out += json.substr(0, plain);
    json.remove_prefix(plain);
    if (json.empty()) break;
    const CodePoint point = first_code_point(json);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    if (point.length > 0 && is_hidden(point.code)) {
      out += json_escape(point.code);
    } else {
      out += json.substr(0, length);
    }
    json.remove_prefix(length);
  }
  return out;
}

}  // namespace axle::text

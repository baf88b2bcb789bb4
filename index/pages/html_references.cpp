// Character references of HTML.
#include <array>
#include <utility>

#include "foundation/text/ascii.h"
#include "index/pages/html_reader.h"

namespace axle::index {
namespace {

constexpr unsigned replacement = 0xfffd;

/// The meaning of 128 to 159 in pages: characters of windows-1252, five of which are not assigned.
constexpr std::array<unsigned, 32> windows_1252 = {
    0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x8d,   0x017d, 0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};

void append_utf8(std::string& out, unsigned code) {
  if (code >= 0x80 && code < 0xa0) code = windows_1252[code - 0x80];
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code == 0 || code > 0x10ffff || surrogate) code = replacement;
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// The length of the numeric reference at the start of `text`, whose character is appended to
/// `out`; 0: none.
std::size_t append_numeric(std::string& out, std::string_view text) {
  const bool hexadecimal = text.starts_with("&#x") || text.starts_with("&#X");
  const std::size_t begin = hexadecimal ? 3 : 2;
  std::size_t i = begin;
  unsigned code = 0;
  for (; i < text.size(); ++i) {
    const char c = text::ascii_lower(text[i]);
    unsigned digit = 0;
    if (text::is_ascii_digit(c)) {
      digit = static_cast<unsigned>(c - '0');
    } else if (hexadecimal && c >= 'a' && c <= 'f') {
      digit = static_cast<unsigned>(c - 'a' + 10);
    } else {
      break;
    }
    // All numbers beyond the last code point are equivalent.
    if (code <= 0x10ffff) code = code * (hexadecimal ? 16 : 10) + digit;
  }
  if (i == begin) return 0;
  append_utf8(out, code);
  return i < text.size() && text[i] == ';' ? i + 1 : i;
}

/// Old pages omit the ";"; "&lt=" and "&lty" are not references then.
std::size_t append_named(std::string& out, std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 5> names = {
      {{"&amp", '&'}, {"&lt", '<'}, {"&gt", '>'}, {"&quot", '"'}, {"&apos", '\''}}};
  for (const auto& [name, character] : names) {
    if (!text.starts_with(name)) continue;
    const char next = text.size() > name.size() ? text[name.size()] : '\0';
    if (next != ';' && (next == '=' || text::is_ascii_alnum(next) || character == '\'')) return 0;
    out += character;
    return name.size() + (next == ';' ? 1 : 0);
  }
  return 0;
}

}  // namespace

std::string resolve_references(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t mark = text.find('&');
    out += text.substr(0, mark);
    if (mark == std::string_view::npos) break;
    text.remove_prefix(mark);
    std::size_t length =
        text.starts_with("&#") ? append_numeric(out, text) : append_named(out, text);
    if (length == 0) {
      out += '&';
      length = 1;
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace axle::index

#include "builder/ci/quoting.h"

#include <fmt/format.h>

namespace axle::builder {

namespace {

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(what)) {
      out += with;
      at += what.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace

bool is_plain_line(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || at + length > text.size()) return false;
    char32_t letter = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      if ((next & 0xc0U) != 0x80) return false;
      letter = letter << 6U | (next & 0x3fU);
    }
    const bool control = letter < 0x20 || (letter >= 0x7f && letter < 0xa0);
    const bool ends_line = letter == 0x2028 || letter == 0x2029;
    const bool no_character = letter == 0xfeff || (letter >= 0xd800 && letter < 0xe000) ||
                              (letter & 0xfffeU) == 0xfffe || letter > 0x10ffff ||
                              (length == 3 && letter < 0x800) || (length == 4 && letter < 0x10000);
    if (control || ends_line || no_character) return false;
    at += length;
  }
  return !text.empty();
}

std::string yaml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string github_text(std::string_view text) {
  // An expression whose value is the text that begins expressions.
  return yaml_text(replaced(text, "${{", "${{ '${{' }}"));
}

std::string gitlab_value(std::string_view text) { return yaml_text(replaced(text, "$", "$$")); }

std::string make_text(std::string_view text) { return replaced(text, "$", "$$"); }

std::string comment_text(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  // A backslash at its end would continue a comment of make in the next line.
  while (out.ends_with('\\')) out.pop_back();
  return out;
}

}  // namespace axle::builder

#include "index/browse/html_text.h"

#include <algorithm>
#include <array>

#include "foundation/text/ascii.h"
#include "foundation/text/html.h"
#include "foundation/text/printable.h"

namespace axle::index {

namespace {

/// Most of what an index has: nothing of it is made visible or escaped.
bool is_plain_text(std::string_view text) {
  static constexpr std::string_view escaped = "&<>\"'";
  return std::ranges::all_of(
      text, [](char c) { return c >= ' ' && c <= '~' && escaped.find(c) == escaped.npos; });
}

}  // namespace

std::string html_text(std::string_view text) {
  if (is_plain_text(text)) return std::string(text);
  return text::escape_html(text::printable(text));
}

std::string html_word(std::string_view word) {
  static constexpr std::string_view plain = "-+._=/:@%,";
  const bool is_plain = std::ranges::all_of(
      word, [](char c) { return text::is_ascii_alnum(c) || plain.contains(c); });
  if (is_plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return html_text(quoted + '\'');
}

std::string html_data(std::string_view json) {
  // "</script>" and "<!--" end or begin something; in JSON "<" only occurs in strings.
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

bool is_followed(std::string_view url) {
  constexpr std::array<std::string_view, 3> schemes = {"https://", "http://", "file://"};
  const std::string lower = text::ascii_lower(url.substr(0, 8));
  return std::ranges::any_of(schemes,
                             [&](std::string_view scheme) { return lower.starts_with(scheme); });
}

}  // namespace axle::index

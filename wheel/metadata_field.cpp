#include "wheel/metadata_field.h"

#include <algorithm>

#include "foundation/text/ascii.h"

namespace axle::wheel {

std::size_t line_length(std::string_view text) {
  // Two searches for one byte are many times as fast as one for either of two.
  const std::size_t feed = std::min(text.find('\n'), text.size());
  const std::size_t end = std::min(text.substr(0, feed).find('\r'), feed);
  return end +
         (text.substr(end).starts_with("\r\n") ? 2 : std::min<std::size_t>(1, text.size() - end));
}

std::optional<MetadataField> split_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view name = line.substr(0, colon);
  if (!std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7F; })) return std::nullopt;
  return MetadataField{name, line.substr(colon + 1)};
}

bool continues_field(std::string_view line) {
  return line.starts_with(' ') || line.starts_with('\t');
}

bool same_field(std::string_view left, std::string_view right) {
  return std::ranges::equal(
      left, right, {}, [](char c) { return text::ascii_lower(c); },
      [](char c) { return text::ascii_lower(c); });
}

}  // namespace axle::wheel

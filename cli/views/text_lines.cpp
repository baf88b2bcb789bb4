#include "cli/views/text_lines.h"

#include <algorithm>

namespace axle::cli {

namespace {

constexpr std::size_t columns = 80;

/// Code points, which is close enough to columns here.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80; }));
}

}  // namespace

std::string wrap_text(std::string_view text, std::size_t indent) {
  std::string lines;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::size_t width = width_of(word);
    if (column > indent && column + 1 + width > columns) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += width;
  }
  return lines;
}

}  // namespace axle::cli

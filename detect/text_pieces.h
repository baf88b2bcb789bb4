#pragma once
// Parses parts of the texts that the kernel, drivers and their tools write.

#include <algorithm>
#include <string_view>

namespace axle::detect {

/// `text` without surrounding spaces, tabs and line ends.
[[nodiscard]] inline std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Removes the next line from the front of `text`, without its end; the last may lack one.
[[nodiscard]] inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace axle::detect

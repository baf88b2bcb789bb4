#pragma once
// Adds, replaces and removes elements of an array in the text of a TOML document. Everything else
// of the text stays as it is: comments, order, indentation, line ends.

#include <cstddef>
#include <string>
#include <string_view>

#include "foundation/documents/toml_text.h"

namespace axle::documents {

/// The text with `written` (TOML) as the element `index` of `array`, which is at most their number.
/// It stands as its neighbours do: in their line, or in one of its own, with their indentation and
/// the comma that the last one has. What an empty array gets stands in a line of its own, unless
/// `in_line`.
[[nodiscard]] std::string with_element(std::string_view text, const TomlArray& array,
                                       std::size_t index, std::string_view written, bool in_line);

/// The text with `written` in the place of an element.
[[nodiscard]] std::string with_replaced_element(std::string_view text, const TomlArray& array,
                                                std::size_t index, std::string_view written);

/// The text without the element, its line if it has one (with the comment at the end of that line),
/// and the comma that it needed.
[[nodiscard]] std::string without_element(std::string_view text, const TomlArray& array,
                                          std::size_t index);

/// "\r\n" if the line with `at`, or else the one before it, ends so; "\n".
[[nodiscard]] std::string_view line_end_at(std::string_view text, std::size_t at);
/// Where the line with `at` begins; behind its end, with the line's "\n".
[[nodiscard]] std::size_t line_begin(std::string_view text, std::size_t at);
[[nodiscard]] std::size_t next_line(std::string_view text, std::size_t at);

}  // namespace axle::documents

#pragma once
// Makes text from outside safe for a terminal.

#include <span>
#include <string>
#include <string_view>

namespace axle::text {

/// Whether it is a control character other than line feed and tab, or one that reverses, hides or
/// joins text.
[[nodiscard]] bool is_hidden(char32_t code);

/// `text` with everything visible that could control a terminal or mislead its reader: control
/// characters and bytes that are not UTF-8 as "\x1b", characters that reverse, hide or join text
/// (Unicode's bidirectional controls, line separators, zero-width characters, tags) as "\u202e".
/// Line feeds, tabs and `kept`, our own escape sequences, are kept.
[[nodiscard]] std::string printable(std::string_view text,
                                    std::span<const std::string_view> kept = {});

/// The same for JSON text: such characters only occur in strings, where an escape is equivalent.
[[nodiscard]] std::string printable_json(std::string_view json);

}  // namespace axle::text

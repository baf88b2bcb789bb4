#pragma once
// Text that came from outside, made safe for a terminal.

#include <span>
#include <string>
#include <string_view>

namespace axle::text {

/// Whether it is a control character other than line feed and tab, or one that reverses, hides or
/// joins text.
[[nodiscard]] bool is_hidden(char32_t code);

/// `text` with everything that could steer a terminal or deceive its reader made visible: control
/// characters and bytes that are not UTF-8 as "\x1b", characters that reverse, hide or join text
/// (Unicode's bidirectional controls, line separators, zero-width characters, tags) as "\u202e".
/// Line feeds, tabs and `kept`, sequences of our own making, stay.
[[nodiscard]] std::string printable(std::string_view text,
                                    std::span<const std::string_view> kept = {});

/// The same for JSON text: such characters stand in strings only, where an escape means the same.
[[nodiscard]] std::string printable_json(std::string_view json);

}  // namespace axle::text

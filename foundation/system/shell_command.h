#pragma once
// Commands in POSIX shell syntax: proposed commands can be copied as they are.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axle {

/// One word, quoted if necessary: names and paths come from files.
[[nodiscard]] std::string shell_word(std::string_view text);

/// The words quoted and joined by spaces.
[[nodiscard]] std::string shell_command(std::span<const std::string> words);

/// The words of a command in a variable ("ccache 'my gcc'"): quotes and backslashes hold a word
/// together, and nothing is expanded. What is not closed ends with the text.
[[nodiscard]] std::vector<std::string> shell_words(std::string_view text);

}  // namespace axle

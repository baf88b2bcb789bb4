#pragma once
// Commands as a POSIX shell takes them: what is proposed to a user can be copied as it stands.

#include <span>
#include <string>
#include <string_view>

namespace axle {

/// One word, in quotes where it needs them: names and paths come from files.
[[nodiscard]] std::string shell_word(std::string_view text);

/// The words quoted and joined by spaces.
[[nodiscard]] std::string shell_command(std::span<const std::string> words);

}  // namespace axle

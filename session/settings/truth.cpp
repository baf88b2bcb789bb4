#include "session/settings/truth.h"

#include <algorithm>
#include <initializer_list>

#include "foundation/text/ascii.h"

namespace axle::session {

std::optional<bool> truth_of(std::string_view text) {
  const std::string word = text::ascii_lower(text);
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (is_one_of({"y", "yes", "t", "true", "on", "1"})) return true;
  if (is_one_of({"n", "no", "f", "false", "off", "0"})) return false;
  return std::nullopt;
}

}  // namespace axle::session

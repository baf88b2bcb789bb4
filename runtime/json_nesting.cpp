#include "runtime/json_nesting.h"

namespace axle::runtime {

Result<void> check_json_nesting(std::string_view text, const std::string& where) {
  constexpr std::size_t deepest = 64;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    if (character == '\0')
      return failure(AXLE_MALFORMED, "%s: no valid JSON at byte %zu of it", where.c_str(), i + 1);
    if (in_string && character == '\\') {
      if (i + 1 < text.size() && text[i + 1] != '\0') ++i;
    } else if (character == '"') {
      in_string = !in_string;
    } else if (in_string) {
      continue;
    } else if (character == '[' || character == '{') {
      if (++depth > deepest)
        return failure(AXLE_MALFORMED, "%s: brackets are nested deeper than %zu", where.c_str(),
                       deepest);
    } else if ((character == ']' || character == '}') && depth > 0) {
      --depth;
    }
  }
  return {};
}

}  // namespace axle::runtime

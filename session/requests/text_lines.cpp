#include "session/requests/text_lines.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace axle::session {

namespace {

void append_utf8(std::string& text, char32_t code) {
  const auto add = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    add(0xE0 | (code >> 12));
    add(0x80 | ((code >> 6) & 0x3F));
  } else {
    add(0xF0 | (code >> 18));
    add(0x80 | ((code >> 12) & 0x3F));
    add(0x80 | ((code >> 6) & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

std::unexpected<Error> unreadable(const char* what) {
  return fail(ErrorKind::malformed, what, "save the file as UTF-8");
}

/// `low`: the position of the lower byte of each two.
Result<std::string> from_utf16(std::string_view bytes, std::size_t low) {
  if (bytes.size() % 2 != 0) return unreadable("the UTF-16 text ends within a character");
  const auto unit = [&](std::size_t i) {
    const auto byte = [&](std::size_t at) {
      return char32_t{static_cast<unsigned char>(bytes[i + at])};
    };
    return byte(low) | (byte(1 - low) << 8);
  };
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    char32_t code = unit(i);
    if (code >= 0xD800 && code < 0xE000) {
      const char32_t second = i + 2 < bytes.size() ? unit(i + 2) : 0;
      if (code >= 0xDC00 || second < 0xDC00 || second >= 0xE000)
        return unreadable("the text is not valid UTF-16");
      code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
      i += 2;
    }
    append_utf8(text, code);
  }
  return text;
}

Result<std::string> as_utf8(std::string bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xEF\xBB\xBF")) return bytes.substr(3);
  if (bytes.starts_with("\xFF\xFE\0\0"sv) || bytes.starts_with("\0\0\xFE\xFF"sv))
    return unreadable("the text is UTF-32");
  if (bytes.starts_with("\xFF\xFE")) return from_utf16(std::string_view(bytes).substr(2), 0);
  if (bytes.starts_with("\xFE\xFF")) return from_utf16(std::string_view(bytes).substr(2), 1);
  return bytes;
}

}  // namespace

Result<std::vector<std::string>> text_lines(std::string bytes) {
  const auto text = as_utf8(std::move(bytes));
  if (!text) return std::unexpected(text.error());
  std::vector<std::string> lines;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    lines.emplace_back(rest.substr(0, end));
    const std::size_t ending = rest.substr(end).starts_with("\r\n") ? 2 : 1;
    rest.remove_prefix(std::min(end + ending, rest.size()));
  }
  return lines;
}

}  // namespace axle::session

#include "runtime/result.h"

#include <cstdarg>
#include <cstdio>
#include <string_view>

namespace axle::runtime {
namespace {

constexpr std::size_t longest_message = 1000;

/// Bytes of the printable character at the beginning of `text`, by the table of well-formed
/// sequences of the Unicode Standard, 3.9; 0 if there is none.
std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const auto follows = [&](std::size_t at, unsigned least, unsigned most) {
    return byte(at) >= least && byte(at) <= most;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  // U+0080 to U+009F are control characters as well.
  if (lead <= 0xdf) return lead >= 0xc2 && follows(1, lead == 0xc2 ? 0xa0 : 0x80, 0xbf) ? 2 : 0;
  if (!follows(2, 0x80, 0xbf)) return 0;
  if (lead <= 0xef)
    return follows(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) ? 3 : 0;
  const bool fits = follows(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf);
  return lead <= 0xf4 && fits && follows(3, 0x80, 0xbf) ? 4 : 0;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = printable_bytes(text);
    if (bytes == 0) {
      result += '?';
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

/// The beginning and the end, where the middle is too much.
std::string shortened(std::string text) {
  const auto is_inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
  };
  if (text.size() <= longest_message) return text;
  std::size_t first = longest_message / 2;
  std::size_t last = text.size() - longest_message / 2;
  while (is_inside(first)) --first;
  while (last < text.size() && is_inside(last)) ++last;
  return text.replace(first, last - first, "[...]");
}

}  // namespace

std::unexpected<Failure> failure(axle_status status, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string message(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  std::vsnprintf(message.data(), message.size() + 1, format, again);
  va_end(again);
  return std::unexpected(Failure{status, shortened(printable(message))});
}

}  // namespace axle::runtime

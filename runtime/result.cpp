#include "runtime/result.h"

#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "runtime/printable.h"

namespace axle::runtime {
namespace {

constexpr std::size_t longest_message = 1000;

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

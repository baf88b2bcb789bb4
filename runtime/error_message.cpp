#include "runtime/error_message.h"

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "runtime/printable.h"

namespace axle::runtime {
namespace {

constexpr std::size_t longest_text = 4096 + 1024;  ///< the longest path of Linux, and a reason
constexpr const char left_out[] = "[...]";
constexpr std::size_t left_out_bytes = sizeof left_out - 1;
constexpr std::size_t least_path = 80;
constexpr std::size_t path_start = 20;

bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

/// A message on its way into an axle_error.
class Fitted {
 public:
  explicit Fitted(axle_error& error) : to_(error.message) {}
  ~Fitted() { to_[used_] = '\0'; }
  Fitted(const Fitted&) = delete;
  Fitted& operator=(const Fitted&) = delete;

  [[nodiscard]] std::size_t room() const { return sizeof(axle_error::message) - 1 - used_; }

  /// At most `most` bytes of them, by whole characters: the first `start`, and the last.
  void add(const char* text, std::size_t bytes, std::size_t most, std::size_t start) {
    if (bytes <= most) {
      append(text, bytes);
      return;
    }
    std::size_t last = bytes - (most - left_out_bytes - start);
    while (start > 0 && is_inside_character(text[start])) --start;
    while (last < bytes && is_inside_character(text[last])) ++last;
    append(text, start);
    append(left_out, left_out_bytes);
    append(text + last, bytes - last);
  }

 private:
  void append(const char* text, std::size_t bytes) {
    std::memcpy(to_ + used_, text, bytes);
    used_ += bytes;
  }

  char* to_;
  std::size_t used_ = 0;
};

void show_printable(char* text, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t own = printable_bytes({text + at, bytes - at});
    if (own == 0) text[at] = '?';
    at += own == 0 ? 1 : own;
  }
}

void fit(const char* text, std::size_t bytes, axle_error& error) {
  Fitted message(error);
  const char* const colon = std::strstr(text, ": ");
  const std::size_t path = colon != nullptr ? static_cast<std::size_t>(colon - text) : 0;
  const std::size_t rest = bytes - path;
  const std::size_t room = message.room();
  const std::size_t path_room = room > rest + least_path ? room - rest : least_path;
  message.add(text, path, path_room, path_start);
  message.add(text + path, rest, message.room(), message.room() / 3);
}

}  // namespace

void clear_failure(axle_error* error) {
  if (error == nullptr) return;
  error->status = AXLE_OK;
  error->message[0] = '\0';
}

axle_status report_failure(axle_error* error, axle_status status, const char* format, ...) {
  if (error == nullptr) return status;
  error->status = status;
  char text[longest_text];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  std::size_t bytes = length > 0 ? static_cast<std::size_t>(length) : 0;
  if (bytes >= sizeof text) {
    bytes = sizeof text - 1;
    while (bytes > 0 && is_inside_character(text[bytes - 1])) --bytes;
    if (bytes > 0) --bytes;
  }
  text[bytes] = '\0';
  show_printable(text, bytes);
  fit(text, bytes, *error);
  return status;
}

}  // namespace axle::runtime

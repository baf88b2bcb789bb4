#include "runtime/result.h"

#include <cstdarg>
#include <cstdio>

namespace axle::runtime {

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
  return std::unexpected(Failure{status, std::move(message)});
}

}  // namespace axle::runtime

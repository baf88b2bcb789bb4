#pragma once
// Writes the lines of a probe child that detect/drivers/driver_lines.h reads.

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace axle::detect {

/// Fields are sanitised. Every line is one write, so that a crash does not lose earlier lines.
class LineSink {
 public:
  explicit LineSink(int descriptor) : descriptor_(descriptor) {}
  void say(std::string_view word, std::initializer_list<std::string_view> fields = {});
  void say(std::string_view word, std::int64_t value);

 private:
  int descriptor_;
};

}  // namespace axle::detect

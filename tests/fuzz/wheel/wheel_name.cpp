// Wheel names: what parses renders to a name that parses to the same parts, and is not a path.
#include "wheel/wheel_name.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto name = wheel::parse_wheel_name(text);
  if (!name) return 0;
  const auto again = wheel::parse_wheel_name(wheel::render_wheel_name(*name));
  require(again.has_value());
  require(again->distribution == name->distribution && again->version == name->version);
  require(again->build == name->build && again->label == name->label);
  require(again->tags == name->tags && !again->tags.empty());
  require(text.find('/') == std::string_view::npos);
  return 0;
}

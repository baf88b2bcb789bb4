// Requirements: what parses renders to a text that parses to the same requirement.
#include "wheel/requirement.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto requirement = wheel::parse_requirement(text);
  if (!requirement) return 0;
  const auto again = wheel::parse_requirement(wheel::render_requirement(*requirement));
  require(again.has_value());
  require(wheel::render_requirement(*again) == wheel::render_requirement(*requirement));
  require(again->name == requirement->name && again->extras == requirement->extras);
  require(again->url == requirement->url);
  require(again->marker.has_value() == requirement->marker.has_value());
  const auto normalized = wheel::normalize_name(requirement->name);
  require(wheel::normalize_name(normalized) == normalized);
  return 0;
}

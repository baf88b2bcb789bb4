// Versions: what parses renders to a text that parses to the same version.
#include "wheel/version.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto version = wheel::parse_version(text);
  if (!version) return 0;
  const auto again = wheel::parse_version(wheel::render_version(*version));
  require(again.has_value() && *again == *version);
  require(wheel::render_version(*again) == wheel::render_version(*version));
  require(again->release == version->release);
  const wheel::Version without_local = version->public_version();
  require(without_local <= *version);
  require(wheel::compare_public(without_local, *version) == 0);
  return 0;
}

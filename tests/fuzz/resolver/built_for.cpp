// What local versions say that a wheel was built for.
#include "resolver/family/built_for.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"
#include "wheel/version.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto version = axle::wheel::parse_version(text);
  if (!version) return 0;
  const auto built = axle::resolver::parse_built_for(*version);
  if (!built) return 0;
  axle::fuzz::require(built->says_torch() || !built->toolkit.empty());
  // What is said of torch is a version that its own specifier accepts.
  if (!built->says_torch()) return 0;
  const auto torch = axle::wheel::parse_version(built->torch);
  axle::fuzz::require(torch.has_value() && built->versions().contains(*torch));
  return 0;
}

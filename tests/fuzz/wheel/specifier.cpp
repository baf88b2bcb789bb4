// Specifiers: rendering keeps their meaning, and a bound lies where its operator says.
#include "wheel/specifier.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto set = wheel::parse_specifiers(text);
  if (!set) return 0;
  const auto again = wheel::parse_specifiers(wheel::render_specifiers(*set));
  require(again.has_value() && again->specifiers.size() == set->specifiers.size());
  require(wheel::render_specifiers(*again) == wheel::render_specifiers(*set));
  require(again->admits_prereleases() == set->admits_prereleases());
  for (const wheel::Specifier& specifier : set->specifiers) {
    if (specifier.comparison == wheel::Comparison::arbitrary) continue;
    require(set->contains(specifier.version) == again->contains(specifier.version));
    // A version lies in the closed ranges that it bounds and outside the open ones.
    const bool open = specifier.comparison == wheel::Comparison::less ||
                      specifier.comparison == wheel::Comparison::greater ||
                      specifier.comparison == wheel::Comparison::not_equal;
    require(specifier.contains(specifier.version) != open);
  }
  return 0;
}

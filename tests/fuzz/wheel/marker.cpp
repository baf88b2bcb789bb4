// Markers: rendering keeps their meaning.
#include "wheel/marker.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto marker = wheel::parse_marker(text);
  if (!marker) return 0;
  const auto again = wheel::parse_marker(marker->render());
  require(again.has_value() && again->render() == marker->render());
  wheel::MarkerEnvironment environment;
  require(again->evaluate(environment) == marker->evaluate(environment));
  environment.strings = {{"python_version", "3.11"}, {"python_full_version", "3.14.0a2+"},
                         {"os_name", "posix"},       {"extra", "Foo_Bar"},
                         {"variant_label", "cu128"}, {"platform_release", "6.18-x"}};
  environment.sets = {{"variant_namespaces", {"nvidia"}}, {"extras", {"test"}}};
  require(again->evaluate(environment) == marker->evaluate(environment));
  require(again->mentions("extra") == marker->mentions("extra"));
  return 0;
}

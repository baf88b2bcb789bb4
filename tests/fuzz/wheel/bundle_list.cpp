// The list of a bundle: what is read has one spelling, and every path stays in the bundle.
#include "wheel/bundle/bundle_list.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto members = axle::wheel::parse_bundle_list(text, "fuzz");
  if (!members) return 0;
  require(axle::wheel::render_bundle_list(*members) == text);
  for (const axle::wheel::BundleMember& member : *members) {
    require(!member.path.starts_with('/') && !member.path.starts_with("../"));
    require(member.path.find("/../") == std::string::npos && !member.path.ends_with('/'));
    require(member.path.find('\0') == std::string::npos);
  }
  return 0;
}

// Property: a family file is taken whole or refused with a place; what is taken becomes variant
// metadata of every release without a crash.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include "index/family/family_variants.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto family = index::parse_family(text, "family.toml");
  if (!family) {
    if (family.error().message.empty()) __builtin_trap();
    return 0;
  }
  std::set<std::string, std::less<>> labels{"unheard"};
  for (const index::FamilyLabel& label : family->labels) labels.insert(label.name);
  for (const index::FamilyRelease& release : family->releases) {
    const auto version = wheel::parse_version(release.version == "*" ? "1" : release.version);
    if (!version) __builtin_trap();
    for (const std::string& member : family->members) {
      const index::FamilyVariants variants =
          index::family_variants(*family, member, *version, "linux_x86_64", labels);
      for (const std::string& label : labels) {
        const bool said = variants.document.variants.contains(label);
        if (!said && !variants.unknown.contains(label)) __builtin_trap();
      }
    }
  }
  return 0;
}

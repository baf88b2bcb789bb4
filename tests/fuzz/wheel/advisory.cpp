// Advisories of anybody's: whatever parses can be asked about any version, and a version that it
// calls fixed is newer.
#include "wheel/advisory/advisory.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"
#include "wheel/advisory/vulnerability.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto advisories = wheel::parse_advisories(text, "fuzz");
  if (!advisories) return 0;
  for (const char* spelling : {"0", "1.0", "2.0+local", "3rc1"}) {
    const wheel::Version version = *wheel::parse_version(spelling);
    for (const wheel::Advisory& advisory : *advisories) {
      require(!advisory.affected.empty());
      const std::string& name = advisory.affected.front().name;
      const auto found = wheel::find_vulnerabilities(*advisories, name, version);
      for (const wheel::Vulnerability& one : found) {
        for (const wheel::Version& fixed : one.fixed)
          require(wheel::compare_public(fixed, version) >= 0);
      }
      const auto sound = wheel::first_sound_version(*advisories, name, found);
      require(!sound || wheel::find_vulnerabilities(*advisories, name, *sound).empty());
    }
  }
  return 0;
}

#pragma once
// Advisories about vulnerable releases, in OSV's format (https://ossf.github.io/osv-schema/), as
// far as they are about Python packages: the ecosystem PyPI.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/version.h"

namespace axle::wheel {

enum class RangeEventKind : std::uint8_t {
  introduced,     ///< vulnerable from this version on
  fixed,          ///< not any more from this one on
  last_affected,  ///< not any more after this one
  limit,          ///< nothing is said of this one and later ones
};

struct RangeEvent {
  RangeEventKind kind = RangeEventKind::introduced;
  /// nullopt: from the beginning ("0"), without end ("*"), or a text that is no version: then
  /// more is affected rather than less.
  std::optional<Version> version;
};

struct AffectedPackage {
  std::string name;                             ///< normalised
  std::vector<std::vector<RangeEvent>> ranges;  ///< of the type ECOSYSTEM; events in no order
  std::vector<Version> versions;
};

struct Severity {
  std::string type;   ///< "CVSS_V3"
  std::string score;  ///< its vector
};

struct Advisory {
  std::string id;
  std::vector<std::string> aliases;
  std::string summary;  ///< one line; may be empty
  std::vector<Severity> severity;
  std::string rating;  ///< "HIGH", of those databases that say so; may be empty
  std::vector<AffectedPackage> affected;
};

inline constexpr std::size_t max_advisories_bytes = 64UL << 20;

/// One advisory, a list of them, or an answer of OSV's API (`vulns`). Those that are withdrawn or
/// about no Python package are left out. `where`: the file, for errors. Errors: malformed, with
/// the place.
[[nodiscard]] Result<std::vector<Advisory>> parse_advisories(std::string_view text,
                                                             const std::string& where);

}  // namespace axle::wheel

#pragma once
// PEP 508 requirements: name, extras, specifiers or URL, marker.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/marker.h"
#include "wheel/specifier.h"

namespace axle::wheel {

/// PEP 503: lower case, runs of "-_." become "-".
[[nodiscard]] std::string normalize_name(std::string_view name);
/// Whether `name` is a valid project name (PEP 508 identifier).
[[nodiscard]] bool is_valid_name(std::string_view name);

struct Requirement {
  std::string name;                 ///< as written
  std::vector<std::string> extras;  ///< normalised, sorted, unique
  SpecifierSet specifiers;
  std::string url;  ///< of `name @ url`; empty otherwise
  std::optional<Marker> marker;
};

/// Error: malformed, with what was expected and where.
[[nodiscard]] Result<Requirement> parse_requirement(std::string_view text);
/// "[extra] ; marker", either of which may be missing: what stands behind the place of a wheel.
/// Nothing else of the requirement is set. Error: as above.
[[nodiscard]] Result<Requirement> parse_extras_and_marker(std::string_view text);
/// "name[extra]>=1,<2; marker" as `packaging` spells it.
[[nodiscard]] std::string render_requirement(const Requirement& requirement);

}  // namespace axle::wheel

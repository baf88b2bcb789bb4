#include "session/projects/locked_versions.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "wheel/requirement.h"

namespace axle::session {

bool add_pin(std::string_view name, std::string_view version, Pins& pins) {
  auto parsed = wheel::parse_version(version);
  if (!parsed) return false;
  std::vector<wheel::Version>& versions = pins[wheel::normalize_name(name)];
  const auto place = std::ranges::lower_bound(versions, *parsed, std::ranges::greater());
  if (place == versions.end() || *place != *parsed) versions.insert(place, *std::move(parsed));
  return true;
}

}  // namespace axle::session

#pragma once
// Wheels given by location, in pip's syntax: PATH or URL, then optionally [extras] and ; marker.

#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/requirement.h"

namespace axle::session {

struct WheelPlace {
  std::string place;  ///< path or URL
  std::string tail;   ///< extras and marker as written
};

/// nullopt: `text` is not a wheel's location.
[[nodiscard]] std::optional<WheelPlace> parse_wheel_place(std::string_view text);

/// As a requirement "name @ URL". A relative path is relative to `folder`; empty: the working
/// folder. Errors: not_found; malformed for a name that is not a wheel's, and for the tail.
[[nodiscard]] Result<wheel::Requirement> requirement_at(const WheelPlace& wheel,
                                                        const std::string& folder = {});

}  // namespace axle::session

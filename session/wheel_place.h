#pragma once
// Wheels by their place, as pip takes them: PATH or URL, then perhaps [extras], then perhaps ;
// marker.

#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/requirement.h"

namespace axle::session {

struct WheelPlace {
  std::string place;  ///< path or URL
  std::string tail;   ///< extras and marker as they stand
};

/// nullopt: `text` is something else.
[[nodiscard]] std::optional<WheelPlace> parse_wheel_place(std::string_view text);

/// As a requirement "name @ URL". A relative path counts from `folder`; empty: the working folder.
/// Errors: not_found; malformed for a name that is no wheel's, and for the tail.
[[nodiscard]] Result<wheel::Requirement> requirement_at(const WheelPlace& wheel,
                                                        const std::string& folder = {});

}  // namespace axle::session

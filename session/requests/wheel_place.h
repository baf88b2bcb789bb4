#pragma once
// Wheels given by location, in pip's syntax: PATH or URL, then optionally [extras] and ; marker; or
// NAME @ URL. Paths, and the URLs "file:PATH", count from the working folder.

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

/// As a requirement "name @ URL". `folder`: of the file that says so, where users look for what is
/// not in the working folder. Errors: not_found; malformed for a name that is not a wheel's, and
/// for the tail.
[[nodiscard]] Result<wheel::Requirement> requirement_at(const WheelPlace& wheel,
                                                        const std::string& folder = {});

/// Makes the URL of "NAME @ file:PATH" absolute; one of another kind stays. `folder`: as above.
/// Errors: not_found; malformed for a path without "file:", or a host.
[[nodiscard]] Result<void> make_absolute(wheel::Requirement& requirement,
                                         const std::string& folder = {});

}  // namespace axle::session

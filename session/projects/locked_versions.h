#pragma once
// The versions of another tool's lock.

#include <string_view>

#include "session/projects/imported_project.h"

namespace axle::session {

/// Adds a version of a lock. `name`: any spelling. False: it is no version.
[[nodiscard]] bool add_pin(std::string_view name, std::string_view version, Pins& pins);

}  // namespace axle::session

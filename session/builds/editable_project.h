#pragma once
// Editable installs (PEP 660). Neither `pip wheel` nor `uv build` makes the wheel of one, so a
// project is written whose backend passes all on to that of the real one and whose ordinary wheel
// is the real one's editable wheel: both build it as any other, in isolation, with the build
// requirements that the real one has.

#include <string>

#include "foundation/report/error.h"

namespace axle::session {

/// Writes it into the existing folder `folder`; `project`: the real one. Errors: malformed (its
/// pyproject.toml), io.
[[nodiscard]] Result<void> write_editable_project(const std::string& project,
                                                  const std::string& folder);

}  // namespace axle::session

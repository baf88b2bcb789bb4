#pragma once
// Projects that stand in for a real one where `pip wheel` and `uv build` make no wheel of what is
// wanted: their backend passes all on to that of the real one, and both build them as any other, in
// isolation, with the build requirements that the real one has.

#include <cstdint>
#include <string>

#include "foundation/report/error.h"

namespace axle::session {

/// What the ordinary wheel of the stand-in is.
enum class StandIn : std::uint8_t {
  editable,  ///< the real one's editable wheel (PEP 660)
  /// As metadata_wheel.h, with what the backend prepares: nothing is compiled for it.
  metadata,
  editable_metadata  ///< likewise of the editable wheel: a backend may need more packages for that
};

/// Writes it into the existing folder `folder`; `project`: the real one. Errors: malformed (its
/// pyproject.toml), io.
[[nodiscard]] Result<void> write_stand_in(StandIn kind, const std::string& project,
                                          const std::string& folder);

}  // namespace axle::session

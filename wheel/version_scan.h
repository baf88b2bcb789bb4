#pragma once
// Reads the version at the start of a longer text: specifiers and requirements are built on it.

#include <cstddef>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/version.h"

namespace axle::wheel {

struct ScanRules {
  bool wildcard = false;  ///< ".*" may follow the release
  bool local = false;     ///< "+local" may follow; otherwise the scan ends before it
};

struct ScannedVersion {
  Version version;
  bool wildcard = false;
  std::size_t length = 0;  ///< bytes of the text that the version takes
};

/// The longest version at the start of `text`, which begins without white space.
[[nodiscard]] Result<ScannedVersion> scan_version(std::string_view text, const ScanRules& rules);

}  // namespace axle::wheel

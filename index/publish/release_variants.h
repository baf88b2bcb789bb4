#pragma once
// The variants file of one release, from the metadata of its wheels.

#include <optional>
#include <span>
#include <string>

#include "foundation/report/error.h"
#include "index/publish/wheel_scan.h"

namespace axle::index {

struct VariantsFile {
  std::string filename;  ///< `{name}-{version}-variants.json`
  std::string text;
  std::string sha256;
};

/// `wheels` are those of one release; nullopt if none of them is a variant. Written as 0.2.0, or as
/// 0.0.3 where wheels of 0.0.x say what that cannot express. Errors: mismatch, with the two
/// contradicting wheels; unsupported (metadata that neither can express).
[[nodiscard]] Result<std::optional<VariantsFile>> combine_variants(
    std::span<const ScannedWheel* const> wheels);

}  // namespace axle::index

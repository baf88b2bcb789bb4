#pragma once
// METADATA whose variant markers were evaluated at installation, since pip and uv reject it with
// them. The wheel's own is stored next to it, with the values of its markers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::installer {

/// In the dist-info, only if METADATA is not the wheel's own.
inline constexpr std::string_view original_metadata = "METADATA.original";
inline constexpr std::string_view marker_values_file = "axle-markers.json";

inline constexpr std::uint64_t metadata_limit = 64U << 20;

/// The values of variant markers; features and namespaces follow from the properties.
struct MarkerValues {
  std::string label;                   ///< empty for a plain wheel
  wheel::VariantProperties supported;  ///< according to the machine
};

/// Error: malformed.
[[nodiscard]] Result<std::string> evaluate_metadata_text(std::string_view text,
                                                         const MarkerValues& values);

[[nodiscard]] std::string render_marker_values(const MarkerValues& values);

/// The METADATA that the folder `dist_info` must contain according to the files next to it; nullopt
/// if it is the wheel's own. Errors: malformed, not_found (one of them is missing), io.
[[nodiscard]] Result<std::optional<std::string>> read_evaluated_metadata(
    const std::string& dist_info);

}  // namespace axle::installer

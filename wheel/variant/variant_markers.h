#pragma once
// Markers about the variant (PEP 825 "Environment markers") given their values, once and for all.
// An installed wheel is of one variant, so these markers can hold nothing else there; and pip, uv
// and importlib.metadata's readers refuse METADATA that has them.

#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/marker.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::wheel {

/// `target`'s markers completed by what the chosen wheel says of its variant: its label ("" for a
/// plain wheel), and those of its properties that the machine supports.
[[nodiscard]] MarkerEnvironment variant_markers(const MarkerEnvironment& target,
                                                std::string_view label,
                                                const VariantProperties& supported);

/// Whether any clause is about the variant.
[[nodiscard]] bool mentions_variant(const Marker& marker);

/// The requirement `text` with its clauses about the variant evaluated in `environment`; whatever
/// stays is spelled as it was. nullopt: the marker is false whatever the other clauses say.
///   a; variant_label == "x" and os_name == "nt"  ->  a; os_name == "nt"  or nullopt
///   a; variant_label == "x" or os_name == "nt"   ->  a  or  a; os_name == "nt"
/// Error: malformed.
[[nodiscard]] Result<std::optional<std::string>> evaluate_variant_requirement(
    std::string_view text, const MarkerEnvironment& environment);

/// METADATA with each of its requirements so evaluated: those that never hold are left out, every
/// other byte stays. Equal to `text` when no marker is about the variant. Error: malformed.
[[nodiscard]] Result<std::string> evaluate_variant_metadata(std::string_view text,
                                                            const MarkerEnvironment& environment);

}  // namespace axle::wheel

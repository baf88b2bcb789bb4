#pragma once
// Metadata of a variant that is made of a wheel: what the wheel says already, and more properties.

#include <string>

#include "foundation/report/error.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_file.h"

namespace axle::builder {

/// `label` with `properties` instead of those of the wheel. Namespaces that are new come last and
/// get the provider that is bundled here. Error: malformed (no such provider, or it does not know
/// the property: the nearest ones that it knows).
[[nodiscard]] Result<wheel::VariantMetadata> with_properties(
    const wheel::WheelFile& file, const std::string& label,
    const wheel::VariantProperties& properties);

/// Of the wheel as it is; empty for a plain one.
[[nodiscard]] wheel::VariantProperties own_properties(const wheel::WheelFile& file);

}  // namespace axle::builder

#pragma once
// Metadata of a variant that is made of a wheel: what the wheel says already, and more properties.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_file.h"

namespace axle::builder {

/// `label` with `properties` instead of those of the wheel. The namespaces are `order`, since those
/// of all variants of a release must be the same; without it new ones come last. A new one gets
/// the provider that is bundled here. Errors: malformed (no such provider, or it does not know the
/// property: the nearest ones that it knows; one namespace twice in `order`), mismatch (`order`
/// lacks one, or a property is of another architecture than the wheel).
[[nodiscard]] Result<wheel::VariantMetadata> with_properties(
    const wheel::WheelFile& file, const std::string& label,
    const wheel::VariantProperties& properties, const std::vector<std::string>& order);

/// Of the wheel as it is; empty for a plain one.
[[nodiscard]] wheel::VariantProperties own_properties(const wheel::WheelFile& file);

}  // namespace axle::builder

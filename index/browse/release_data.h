#pragma once
// What a script needs of a release to choose one of its variants.

#include <string>
#include <string_view>

#include "index/browse/page_machines.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {

/// JSON: {"namespaces", "origins" (PageMachines::origins_json), "features" and "values" (the tables
/// of 0.0.x), "variants": {label: [[namespace, feature, value], …]}, "null": labels that mean the
/// null variant}.
[[nodiscard]] std::string release_data(const wheel::VariantMetadata& metadata,
                                       const PageMachines& machines);

[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace axle::index

#pragma once
// The `[variant]` table of a pyproject.toml: the seed of variants.json.

#include <optional>

#include "foundation/documents/toml_reader.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

/// Read like the JSON documents, then checked against the bundled providers; unknown providers are
/// not checked, with a note. Errors are added to the table's reading.
[[nodiscard]] std::optional<wheel::VariantMetadata> read_variants(documents::TomlTable& variant,
                                                                  Report& report);

}  // namespace axle::builder

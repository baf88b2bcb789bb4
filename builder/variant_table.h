#pragma once
// The `[variant]` table of a pyproject.toml (PEP 850, build side) as variant metadata.

#include <optional>

#include "builder/table/products.h"
#include "foundation/documents/toml_reader.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

/// Reads the table `variant` of `root`, adds the variants of `products` and checks all properties
/// against the providers; of a provider that is unknown here only the form is checked, with a note
/// in `report`. The namespaces of axes that `default-priorities` and `providers` do not mention
/// are added with the bundled providers. Errors go to the table's reading. nullopt: there is no
/// table and no product, or an error.
[[nodiscard]] std::optional<wheel::VariantMetadata> read_variants(documents::TomlTable& root,
                                                                  const Products& products,
                                                                  Report& report);

}  // namespace axle::builder

#pragma once
// The matrix: a row for each wheel, out of products, [[tool.axle.variant]] and [variant].

#include <optional>
#include <string>
#include <vector>

#include "builder/project.h"
#include "builder/table/products.h"
#include "builder/table/row_settings.h"
#include "foundation/documents/toml_reader.h"

namespace axle::builder {

/// [[tool.axle.variant]]: a row, or what rows of that label do otherwise.
struct StatedRow {
  std::string label;
  RowSettings settings;
  documents::TomlTable table;  ///< for errors
};

/// What [tool.axle] says of it.
struct MatrixTable {
  RowSettings of_all;
  Products products;
  std::vector<StatedRow> rows;
};

[[nodiscard]] MatrixTable read_matrix_table(documents::TomlTable& axle);

/// The combinations of the products, changed by the stated rows of their label; then the other
/// stated rows. Without either every label of `variants`, which gets the null variant where a row
/// has it; else one plain wheel. Never empty unless there is an error, which goes to `reading`:
/// labels without properties, rows of the same label and architecture, architectures that the
/// properties contradict.
[[nodiscard]] std::vector<MatrixRow> make_matrix(const MatrixTable& table,
                                                 std::optional<wheel::VariantMetadata>& variants,
                                                 documents::TomlReading& reading);

}  // namespace axle::builder

#pragma once
// Variants that follow from axes: [tool.axle.axes] holds what varies, [[tool.axle.product]] which
// combinations are built.

#include <string>
#include <vector>

#include "builder/table/row_settings.h"
#include "foundation/documents/toml_reader.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

struct AxisValue {
  std::string name;
  wheel::VariantProperties properties;
  RowSettings settings;
};

struct Axis {
  std::string name;
  std::vector<AxisValue> values;  ///< in the order of the file
  documents::TomlTable table;     ///< keyed by the values' names: for errors
};

/// One value of each axis of a product.
struct Combination {
  std::string label;  ///< "null" without properties
  wheel::VariantProperties properties;
  RowSettings settings;        ///< of the product, then of the values
  documents::TomlTable table;  ///< for errors: the axis of its last value that has properties
  std::string key;             ///< that value, there
};

struct Products {
  std::vector<Axis> axes;
  std::vector<Combination> combinations;
};

/// Without [[tool.axle.product]] the product of all axes; without axes nothing. Errors go to the
/// reading: unknown names with the nearest ones, a label that is not valid or that two combinations
/// with different properties share, too many combinations. `properties` themselves are only checked
/// for their form.
[[nodiscard]] Products read_products(documents::TomlTable& axle);

/// The namespaces of all axes in the order in which these name them.
[[nodiscard]] std::vector<std::string> namespaces_of(const std::vector<Axis>& axes);

}  // namespace axle::builder

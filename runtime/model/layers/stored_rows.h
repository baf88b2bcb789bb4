#pragma once
// The rows of a linear layer that a folder holds quantised: values and scales as they are.

#include <string_view>
#include <vector>

#include "runtime/machine/memory.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/model/layers/projection.h"
#include "runtime/model/layers/weight_rows.h"
#include "runtime/result.h"

namespace axle::runtime {

/// The mode that a model runs in: `name`, or if that is empty the one that its weights are stored
/// in, or a16w8. AXLE_BAD_ARGUMENT for a name that is not known; AXLE_UNSUPPORTED for another than
/// the stored one. `where` names the model in errors.
[[nodiscard]] Result<ModelMode> choose_mode(const ModelShape& shape, std::string_view name,
                                            const std::string& where);

/// As axle_linear_options takes them.
struct StoredRows {
  Memory values;              ///< [rows][columns] int8, of float8 their bytes
  std::vector<float> scales;  ///< [rows] or [rows][groups]
};

/// All rows, with every value checked: AXLE_MALFORMED, naming file and tensor, for a scale that is
/// not finite, zero beside weights that are not, negative in a mode that has none such, or no
/// number that a quantiser gives; and for a weight beyond the mode's range.
[[nodiscard]] Result<StoredRows> read_stored_rows(const WeightRows& weights, const ModelMode& mode);

}  // namespace axle::runtime

#pragma once
// The rows of a linear layer that a folder holds quantised: values and scales as they are.

#include <cstdint>
#include <string_view>
#include <vector>

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

/// Values and scales as axle_linear_options takes them. Every one is checked: AXLE_MALFORMED,
/// naming file and tensor, for a scale that is not finite, zero beside weights that are not,
/// negative in a mode that has none such, or no number that a quantiser gives; and for a weight
/// beyond the mode's range.
class StoredRows {
 public:
  /// Reads the scales. `weights` must stay.
  [[nodiscard]] static Result<StoredRows> open(const WeightRows& weights, const ModelMode& mode);

  /// [rows] or [rows][groups]
  [[nodiscard]] const std::vector<float>& scales() const { return scales_; }

  /// Rows [first, first + count) to [count][columns]: int8, of float8 their bytes. Any number of
  /// threads may read at once.
  [[nodiscard]] Result<void> read(std::size_t first, std::size_t count, std::int8_t* to) const;

 private:
  StoredRows(const WeightRows& weights, const ModelMode& mode);

  [[nodiscard]] Result<void> read_scales(const WeightRows::Part& part);
  [[nodiscard]] Result<void> read_row(const WeightRows::Part& part, std::size_t row,
                                      std::int8_t* to) const;
  [[nodiscard]] Result<void> check_scale(const WeightRows::Part& part, std::size_t row,
                                         std::size_t group, float scale) const;
  [[nodiscard]] Result<void> check_values(const WeightRows::Part& part, std::size_t row,
                                          const float* scales, const std::int8_t* values) const;
  [[nodiscard]] std::unexpected<Failure> wrong(const Tensor& tensor, std::size_t row,
                                               std::size_t group, const char* what) const;

  const WeightRows* weights_;
  ModelMode mode_;
  std::size_t columns_;
  std::size_t group_;   ///< of weights with one scale
  std::size_t groups_;  ///< of a row
  std::vector<float> scales_;
};

}  // namespace axle::runtime

#pragma once
// The rows of x of one chunk as the products take them: quantised, each with a scale of its own.

#include <cstddef>
#include <cstdint>

#include "runtime/forward/row_source.h"
#include "runtime/linear.h"

namespace axle::runtime {

/// What a layer asks of its rows.
struct RowForm {
  WeightForm weights;
  std::size_t planes;    ///< 2: int16 as two int8
  std::size_t k;         ///< elements of a row of x
  std::size_t padded_k;  ///< those behind them are zero
  std::size_t group;     ///< of int4 weights with one level of scales, else 0
};

class QuantisedRows {
 public:
  QuantisedRows(const RowForm& form, const KernelSet& set);

  /// From a row to the next one, `row_gap` included.
  [[nodiscard]] std::size_t row_bytes() const { return row_bytes_; }
  /// Of one quantised value.
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  /// Memory that `place` takes for so many rows, a multiple of 64.
  [[nodiscard]] std::size_t bytes(std::size_t rows) const {
    return value_bytes(rows) + side_bytes(rows);
  }

  /// The rows are to lie in `bytes(rows)` bytes at `memory`, 64-byte aligned.
  void place(char* memory, std::size_t rows);

  /// Row r of those placed, from row `from` of the source. `own` has room for padded_k floats.
  void quantise(std::size_t r, const RowSource& source, std::size_t from, float* own) const;

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t planes() const { return form_.planes; }
  /// [rows], for two planes [rows] more, of row_bytes each.
  [[nodiscard]] const char* values() const { return values_; }
  [[nodiscard]] const float* scales() const { return scales_; }
  /// [rows][groups], for int4 with one level of scales.
  [[nodiscard]] const std::int32_t* offsets() const { return offsets_; }
  /// Groups that a row of int4 weights' activations falls into.
  [[nodiscard]] std::size_t groups() const {
    return form_.weights == WeightForm::int4 ? form_.padded_k / form_.group : 0;
  }

 private:
  [[nodiscard]] std::size_t value_bytes(std::size_t rows) const;
  [[nodiscard]] std::size_t side_bytes(std::size_t rows) const;
  const float* padded_row(const RowSource& source, std::size_t r, float* own) const;
  void quantise_whole(std::size_t r, const float* row, std::uint32_t largest_bits) const;
  void scale_to_bfloat16(std::size_t r, const float* row, std::uint32_t largest_bits) const;

  RowForm form_;
  const KernelSet& set_;
  std::size_t element_bytes_;
  std::size_t row_bytes_;
  std::size_t rows_ = 0;
  char* values_ = nullptr;
  float* scales_ = nullptr;
  std::int32_t* offsets_ = nullptr;
};

}  // namespace axle::runtime

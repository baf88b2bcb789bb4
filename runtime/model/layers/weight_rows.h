#pragma once
// The rows of one linear layer, in the order that the model wants them, from the tensors of a file.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/files/tensor.h"
#include "runtime/model/description/required_tensors.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Where the row that is wanted as `row` lies among rows in pairs, or the same row for a depth of
/// 0.
[[nodiscard]] constexpr std::size_t row_in_pairs(std::size_t row, std::size_t head_depth) {
  if (head_depth == 0) return row;
  const std::size_t in_head = row % head_depth;
  const std::size_t half = head_depth / 2;
  return row - in_head + (in_head < half ? 2 * in_head : 2 * (in_head - half) + 1);
}

class WeightRows {
 public:
  /// `where` names the file or folder in errors.
  explicit WeightRows(std::string where) : where_(std::move(where)) {}

  struct Part {
    const Tensor* tensor;
    const Tensor* scales;    ///< null: floats
    std::size_t head_depth;  ///< of rows in pairs, else 0
  };

  /// All rows of a matrix, below those that are there; the same number of columns.
  ///
  /// `head_depth` not zero: queries or keys whose rows of a head are in pairs (2i, 2i + 1), as GGUF
  /// files of Llama have them. They are taken half a head apart (i, depth / 2 + i), as
  /// ModelSteps::rotate wants them. Scores are the same.
  void append(const LinearTensors& tensors, std::size_t head_depth = 0) {
    parts_.push_back({tensors.weights, tensors.scales, head_depth});
  }

  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t columns() const;
  /// Weights that are quantised already: StoredRows reads them, `read` does not.
  [[nodiscard]] bool is_stored() const { return parts_.front().scales != nullptr; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  /// Of the tensors, in their order, for errors: `tensors "a", "b"`.
  [[nodiscard]] std::string names() const;

  /// Rows [first, first + count) as floats, [count][columns]. AXLE_MALFORMED, naming file and
  /// tensor, if one is not finite. Any number of threads may read at once.
  [[nodiscard]] Result<void> read(std::size_t first, std::size_t count, float* to) const;

 private:
  [[nodiscard]] Result<void> read_part(const Part& part, std::size_t first, std::size_t count,
                                       float* to) const;

  std::string where_;
  std::vector<Part> parts_;
};

/// AXLE_NO_MEMORY, naming file and tensors.
[[nodiscard]] std::unexpected<Failure> no_memory_for(const WeightRows& weights);

}  // namespace axle::runtime

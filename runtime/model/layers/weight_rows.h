#pragma once
// The rows of one linear layer, in the order that the model wants them, from the tensors of a file.

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/files/tensor.h"
#include "runtime/result.h"

namespace axle::runtime {

class WeightRows {
 public:
  /// `where` names the file or folder in errors.
  explicit WeightRows(std::string where) : where_(std::move(where)) {}

  /// All rows of a matrix, below those that are there; the same number of columns.
  void append(const Tensor& tensor) { parts_.push_back({&tensor, 0}); }

  /// The same for queries or keys whose rows of a head are in pairs (2i, 2i + 1), as GGUF files of
  /// Llama have them: they are taken half a head apart (i, depth / 2 + i), as ModelSteps::rotate
  /// wants them. Scores are the same.
  void append_pairs(const Tensor& tensor, std::size_t head_depth) {
    parts_.push_back({&tensor, head_depth});
  }

  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t columns() const { return parts_.front().tensor->shape.back(); }

  /// Rows [first, first + count) as floats, [count][columns]. AXLE_MALFORMED, naming file and
  /// tensor, if one is not finite. Of files, not much more stays in memory than is read; rows
  /// should therefore be read in order, by each of several threads its own.
  [[nodiscard]] Result<void> read(std::size_t first, std::size_t count, float* to) const;

  /// All rows have been read: their file's pages leave the process.
  void forget() const;

 private:
  struct Part {
    const Tensor* tensor;
    std::size_t head_depth;  ///< of rows in pairs, else 0
  };

  [[nodiscard]] Result<void> read_row(const Part& part, std::size_t row, float* to) const;

  std::string where_;
  std::vector<Part> parts_;
};

}  // namespace axle::runtime

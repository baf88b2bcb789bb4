#include "runtime/model/layers/weight_rows.h"

#include <cmath>

namespace axle::runtime {

std::size_t WeightRows::rows() const {
  std::size_t total = 0;
  for (const Part& part : parts_) total += part.tensor->shape.front();
  return total;
}

std::size_t WeightRows::columns() const {
  const Part& part = parts_.front();
  const bool nibbles = part.scales != nullptr && part.tensor->type == TensorType::uint8;
  return part.tensor->shape.back() * (nibbles ? 2 : 1);
}

Result<void> WeightRows::read(std::size_t first, std::size_t count, float* to) const {
  std::size_t start = 0;  // of the part
  for (const Part& part : parts_) {
    const std::size_t rows = part.tensor->shape.front();
    for (; count > 0 && first < start + rows; ++first, --count, to += columns()) {
      const std::size_t row = row_in_pairs(first - start, part.head_depth);
      read_rows(*part.tensor, row, 1, to);
      for (std::size_t i = 0; i < columns(); ++i) {
        if (!std::isfinite(to[i]))
          return failure(AXLE_MALFORMED,
                         "%s: tensor \"%s\": the weight in row %zu, column %zu is not finite",
                         where_.c_str(), part.tensor->name.c_str(), row, i);
      }
    }
    start += rows;
  }
  return {};
}

}  // namespace axle::runtime

#include "runtime/model/layers/weight_rows.h"

#include <algorithm>

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

std::string WeightRows::names() const {
  std::string names;
  for (const Part& part : parts_)
    names += (names.empty() ? "\"" : ", \"") + part.tensor->name + "\"";
  return (parts_.size() > 1 ? "tensors " : "tensor ") + names;
}

Result<void> WeightRows::read_part(const Part& part, std::size_t first, std::size_t count,
                                   float* to) const {
  if (part.head_depth == 0) return read_finite_rows(*part.tensor, where_, first, count, to);
  for (std::size_t i = 0; i < count; ++i, to += columns()) {
    const std::size_t row = row_in_pairs(first + i, part.head_depth);
    const Result<void> read = read_finite_rows(*part.tensor, where_, row, 1, to);
    if (!read) return read;
  }
  return {};
}

Result<void> WeightRows::read(std::size_t first, std::size_t count, float* to) const {
  std::size_t start = 0;  // of the part
  for (const Part& part : parts_) {
    const std::size_t end = start + part.tensor->shape.front();
    if (count > 0 && first < end) {
      const std::size_t here = std::min(count, end - first);
      const Result<void> read = read_part(part, first - start, here, to);
      if (!read) return read;
      first += here;
      count -= here;
      to += here * columns();
    }
    start = end;
  }
  return {};
}

std::unexpected<Failure> no_memory_for(const WeightRows& weights) {
  return failure(AXLE_NO_MEMORY,
                 "%s: %s: no memory for %zu x %zu weights; free some memory, or run "
                 "the model in a mode of smaller weights",
                 weights.where().c_str(), weights.names().c_str(), weights.rows(),
                 weights.columns());
}

}  // namespace axle::runtime

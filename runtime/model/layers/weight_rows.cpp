#include "runtime/model/layers/weight_rows.h"

namespace axle::runtime {
namespace {

/// So many bytes of a file are read before their pages leave.
constexpr std::size_t kept_bytes = std::size_t{1} << 20;

}  // namespace

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

Result<void> WeightRows::read_row(const Part& part, std::size_t row, float* to) const {
  return read_finite_row(*part.tensor, where_, row_in_pairs(row, part.head_depth), to);
}

Result<void> WeightRows::read(std::size_t first, std::size_t count, float* to) const {
  std::size_t start = 0;  // of the part
  for (const Part& part : parts_) {
    const std::size_t rows = part.tensor->shape.front();
    const std::size_t begin = first;
    for (; count > 0 && first < start + rows; ++first, --count, to += columns()) {
      const Result<void> read = read_row(part, first - start, to);
      if (!read) return read;
    }
    const std::size_t kept_rows = kept_bytes / part.tensor->row_bytes() + 1;
    if (begin < first && (begin - start) / kept_rows < (first - start) / kept_rows) {
      const std::size_t from = (begin - start) / kept_rows * kept_rows;
      forget_rows(*part.tensor, from, first - start - from);
    }
    start += rows;
  }
  return {};
}

void WeightRows::forget() const {
  for (const Part& part : parts_) forget_rows(*part.tensor, 0, part.tensor->shape.front());
}

std::unexpected<Failure> no_memory_for(const WeightRows& weights) {
  return failure(AXLE_NO_MEMORY,
                 "%s: %s: no memory for %zu x %zu weights; free some memory, or run "
                 "the model in a mode of smaller weights",
                 weights.where().c_str(), weights.names().c_str(), weights.rows(),
                 weights.columns());
}

}  // namespace axle::runtime

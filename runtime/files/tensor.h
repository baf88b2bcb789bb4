#pragma once
// A tensor of a model file: where its bytes lie, and its numbers as floats.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/files/model_file.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Those from q8_0 on are ggml's blocks: so many weights with scales of their own.
enum class TensorType : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q4_k,
  q5_k,
  q6_k
};

struct TensorTypeRow {
  TensorType type;
  const char* name;           ///< "q4_k"
  std::size_t block_weights;  ///< 1 for plain types
  std::size_t block_bytes;
  bool is_float;  ///< read_rows can read it
};

[[nodiscard]] const TensorTypeRow& row(TensorType type);

struct Tensor {
  std::string name;
  TensorType type = TensorType::float32;
  std::vector<std::size_t> shape;   ///< outermost first; may be empty: one number
  const ModelFile* file = nullptr;  ///< which must stay open
  std::uint64_t at = 0;             ///< where its bytes begin in the file
  std::size_t bytes = 0;

  [[nodiscard]] std::size_t columns() const { return shape.empty() ? 1 : shape.back(); }
  [[nodiscard]] std::size_t rows() const;  ///< product of all lengths but the last
  [[nodiscard]] std::size_t row_bytes() const;
};

/// Bytes of a tensor, or nothing if the product overflows or a row is no whole number of blocks.
[[nodiscard]] std::optional<std::size_t> tensor_bytes(TensorType type,
                                                      const std::vector<std::size_t>& shape);

/// Bytes [first, first + to.size()). AXLE_IO, naming file and tensor, if the file was cut short
/// since it was opened, or cannot be read.
[[nodiscard]] Result<void> read_bytes(const Tensor& tensor, std::size_t first,
                                      std::span<std::byte> to);

/// Rows [first, first + count) of a tensor of floats, [count][columns], as ggml and IEEE 754 have
/// them; no multiplication and addition is fused. Errors are those of read_bytes.
[[nodiscard]] Result<void> read_rows(const Tensor& tensor, std::size_t first, std::size_t count,
                                     float* to);

}  // namespace axle::runtime

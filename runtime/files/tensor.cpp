#include "runtime/files/tensor.h"

#include "runtime/files/quantised_blocks.h"
#include "runtime/half.h"

namespace axle::runtime {
namespace {

/// Of a file that are read at once and made floats: a part of the first cache.
constexpr std::size_t part_bytes = std::size_t{16} << 10U;

constexpr TensorTypeRow type_rows[] = {
    {TensorType::float64, "float64", 1, 8, true},
    {TensorType::float32, "float32", 1, 4, true},
    {TensorType::float16, "float16", 1, 2, true},
    {TensorType::bfloat16, "bfloat16", 1, 2, true},
    {TensorType::float8_e4m3, "float8_e4m3", 1, 1, true},
    {TensorType::int64, "int64", 1, 8, false},
    {TensorType::int32, "int32", 1, 4, false},
    {TensorType::int16, "int16", 1, 2, false},
    {TensorType::int8, "int8", 1, 1, false},
    {TensorType::uint8, "uint8", 1, 1, false},
    {TensorType::boolean, "bool", 1, 1, false},
    {TensorType::q8_0, "q8_0", 32, 34, true},
    {TensorType::q4_0, "q4_0", 32, 18, true},
    {TensorType::q4_1, "q4_1", 32, 20, true},
    {TensorType::q5_0, "q5_0", 32, 22, true},
    {TensorType::q4_k, "q4_k", 256, 144, true},
    {TensorType::q5_k, "q5_k", 256, 176, true},
    {TensorType::q6_k, "q6_k", 256, 210, true},
};

std::uint16_t load_half(const std::byte* from) {
  std::uint16_t half = 0;
  std::memcpy(&half, from, sizeof half);
  return half;
}

void read_plain(TensorType type, const std::byte* from, std::size_t count, float* to) {
  switch (type) {
    case TensorType::float64:
      for (std::size_t i = 0; i < count; ++i) {
        double value = 0;
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        to[i] = static_cast<float>(value);
      }
      return;
    case TensorType::float16:
      for (std::size_t i = 0; i < count; ++i) to[i] = float_from_float16(load_half(from + 2 * i));
      return;
    case TensorType::bfloat16:
      for (std::size_t i = 0; i < count; ++i) to[i] = float_from_bfloat16(load_half(from + 2 * i));
      return;
    case TensorType::float8_e4m3:
      for (std::size_t i = 0; i < count; ++i)
        to[i] = float_from_float8(static_cast<std::uint8_t>(from[i]));
      return;
    default:
      return;
  }
}

}  // namespace

const TensorTypeRow& row(TensorType type) { return type_rows[static_cast<std::size_t>(type)]; }

std::size_t Tensor::rows() const {
  std::size_t product = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) product *= shape[i];
  return product;
}

std::optional<std::size_t> tensor_bytes(TensorType type, const std::vector<std::size_t>& shape) {
  const TensorTypeRow& kind = row(type);
  std::size_t bytes = kind.block_bytes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::size_t length = shape[i];
    if (i + 1 == shape.size()) {
      if (length % kind.block_weights != 0) return std::nullopt;
      length /= kind.block_weights;
    }
    if (__builtin_mul_overflow(bytes, length, &bytes)) return std::nullopt;
  }
  if (shape.empty() && kind.block_weights != 1) return std::nullopt;
  return bytes;
}

std::size_t Tensor::row_bytes() const {
  const TensorTypeRow& kind = row(type);
  return columns() / kind.block_weights * kind.block_bytes;
}

Result<void> read_bytes(const Tensor& tensor, std::size_t first, std::span<std::byte> to) {
  Result<void> read = tensor.file->read(tensor.at + first, to);
  if (read) return read;
  return failure(read.error().status, "%s; tensor \"%s\" is lost", read.error().message.c_str(),
                 tensor.name.c_str());
}

Result<void> read_rows(const Tensor& tensor, std::size_t first, std::size_t count, float* to) {
  const TensorTypeRow& kind = row(tensor.type);
  const std::size_t begin = first * tensor.row_bytes();
  if (tensor.type == TensorType::float32)
    return read_bytes(tensor, begin,
                      {reinterpret_cast<std::byte*>(to), count * tensor.row_bytes()});
  std::byte part[part_bytes];
  std::size_t left = count * (tensor.columns() / kind.block_weights);
  const std::size_t together = part_bytes / kind.block_bytes;
  for (std::size_t at = begin; left > 0;) {
    const std::size_t blocks = left < together ? left : together;
    const std::span<std::byte> bytes{part, blocks * kind.block_bytes};
    const Result<void> read = read_bytes(tensor, at, bytes);
    if (!read) return read;
    if (kind.block_weights == 1) {
      read_plain(tensor.type, part, blocks, to);
    } else {
      read_blocks(tensor.type, part, blocks, to);
    }
    to += blocks * kind.block_weights;
    at += bytes.size();
    left -= blocks;
  }
  return {};
}

}  // namespace axle::runtime

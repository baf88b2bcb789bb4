#pragma once
// What gguf.md's and ggml's numbers mean.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "runtime/files/tensor.h"

namespace axle::runtime {

/// Types of metadata values.
namespace gguf_value {
enum Type : std::uint32_t {
  uint8 = 0,
  int8 = 1,
  uint16 = 2,
  int16 = 3,
  uint32 = 4,
  int32 = 5,
  float32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  uint64 = 10,
  int64 = 11,
  float64 = 12
};
}  // namespace gguf_value

/// Bytes of one value; 0 for those of no fixed size, and for unknown types.
[[nodiscard]] std::size_t gguf_value_bytes(std::uint32_t type);

[[nodiscard]] bool is_gguf_integer(std::uint32_t type);

/// A value that is_gguf_integer; a uint64 beyond int64 comes out negative.
[[nodiscard]] std::int64_t load_gguf_integer(std::uint32_t type, const std::byte* from);

template <class T>
T load_unaligned(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Nothing for the numbers of types that are not read.
[[nodiscard]] std::optional<TensorType> tensor_type_of_ggml(std::uint32_t number);

/// ggml's name of a type of tensors, also of one that is not read; "?" for unknown numbers.
[[nodiscard]] const char* ggml_type_name(std::uint32_t number);

}  // namespace axle::runtime

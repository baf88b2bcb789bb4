#pragma once
// The JSON header of a safetensors file.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/tensor.h"
#include "runtime/result.h"

namespace axle::runtime {

/// As the format has it.
constexpr std::uint64_t largest_safetensors_header = 100'000'000;

/// The format's name of a type ("BF16"); null for ggml's blocks, which it does not have.
[[nodiscard]] const char* safetensors_type_name(TensorType type);

/// A tensor whose bytes are [begin, end) of what follows the header; `tensor.data` is not set.
struct PlacedTensor {
  Tensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::vector<PlacedTensor> tensors;            ///< by their places
  std::map<std::string, std::string> metadata;  ///< "__metadata__"
};

/// Checks each tensor by itself: its fields, and that shape and type take end - begin bytes.
/// AXLE_UNSUPPORTED for a type that is not in TensorType; `path` names the file in errors.
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::string_view text,
                                                                 const std::string& path);

}  // namespace axle::runtime

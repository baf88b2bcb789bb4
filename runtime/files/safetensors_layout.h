#pragma once
// Where the tensors of a safetensors file that is to be written lie, and its header.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/files/safetensors_writer.h"

namespace axle::runtime {

struct SafetensorsLayout {
  std::string head;                   ///< length and JSON, padded so that data begins at 8 bytes
  std::vector<std::uint64_t> begins;  ///< of each tensor, in the caller's order, from 0 on
  std::vector<std::uint64_t> sizes;
  std::uint64_t bytes = 0;  ///< of the file
};

/// Larger elements lie first, as in the files of the format's own writers, so that every tensor is
/// aligned. `path` names the file in errors: a name that is there twice or no UTF-8, a type that
/// the format does not have, a shape beyond 2^64 bytes, a header beyond the format's limit.
[[nodiscard]] Result<SafetensorsLayout> lay_out(const std::string& path,
                                                std::span<const TensorToWrite> tensors,
                                                const SafetensorsMetadata& metadata);

/// `text` as a JSON string; AXLE_BAD_ARGUMENT if it is no UTF-8.
[[nodiscard]] Result<std::string> json_string(const std::string& path, const std::string& text);

}  // namespace axle::runtime

#pragma once
// Writes safetensors files piece by piece: no model is in memory as a whole. What is not complete
// never stands under a model's name.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/files/safetensors.h"
#include "runtime/files/tensor.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Takes the next bytes of a tensor; its failure is to be passed on.
using PutBytes = std::function<Result<void>(std::span<const std::byte>)>;

struct TensorToWrite {
  std::string name;
  TensorType type = TensorType::float32;
  std::vector<std::size_t> shape;  ///< outermost first
  /// Puts the bytes, in pieces of any size, as many as type and shape take. Called once; tensors
  /// are asked in the order of the list. Its failure ends the writing and is what comes back.
  std::function<Result<void>(const PutBytes& put)> write;
};

/// The bytes of a tensor that is there, which must stay open.
[[nodiscard]] TensorToWrite copy_of(const Tensor& tensor);

/// One file at `path`, in the place of one that is there. Beside AXLE_IO: AXLE_UNSUPPORTED for a
/// tensor of ggml's blocks, AXLE_BAD_ARGUMENT for names twice or no UTF-8, or a tensor that put
/// another number of bytes.
[[nodiscard]] Result<void> write_safetensors(const std::string& path,
                                             std::span<const TensorToWrite> tensors,
                                             const SafetensorsMetadata& metadata);

/// The tensors of a model in a folder that is there: model.safetensors if they take at most
/// `shard_bytes` without the header, else shards of that size (a larger tensor alone) and their
/// index, which appears last. AXLE_BAD_ARGUMENT if the folder already holds a model: its shards
/// could not be replaced all at once.
[[nodiscard]] Result<void> write_safetensors_folder(const std::string& folder,
                                                    std::span<const TensorToWrite> tensors,
                                                    const SafetensorsMetadata& metadata,
                                                    std::uint64_t shard_bytes);

}  // namespace axle::runtime

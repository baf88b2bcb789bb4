#pragma once
// A loaded model with each kernel set that the machine runs, beside the baseline set.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/model/decoder.h"
#include "runtime/model/encoder.h"
#include "runtime/result.h"

namespace axle::runtime {

struct ModelSelftest {
  std::vector<std::string> kernels;  ///< that gave the same
  std::size_t shapes = 0;            ///< of layers, each with several numbers of rows
  std::uint64_t hash = 0;            ///< FNV-1a of the logits (or vectors) of a few tokens
};

/// Each set over the shapes of the model's layers, then the whole model over a few tokens, byte by
/// byte. AXLE_MISMATCH names the set and the layer. A set that is forced is compared alone.
/// Whether the baseline set itself is right is axle_runtime_selftest's question.
[[nodiscard]] Result<ModelSelftest> selftest_model(Engine& engine, Decoder& decoder, CacheForm form,
                                                   const LoadProgress& progress);
[[nodiscard]] Result<ModelSelftest> selftest_model(Engine& engine, Encoder& encoder,
                                                   const Pooling& pooling,
                                                   const LoadProgress& progress);

}  // namespace axle::runtime

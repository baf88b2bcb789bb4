#pragma once
// How well a model predicts a text.

#include <cstdint>
#include <functional>
#include <span>

#include "runtime/model/decoder.h"
#include "runtime/result.h"

namespace axle::runtime {

struct Perplexity {
  double mean = 0;         ///< of -ln of the probabilities of the scored tokens
  double perplexity = 0;   ///< e^mean, or infinity
  std::size_t scored = 0;  ///< tokens
};

/// The text in windows of `window` tokens, each by itself; scored are those of the second half of
/// each, which see at least half a window (as llama.cpp's perplexity does). AXLE_BAD_ARGUMENT for a
/// text of less than one window.
[[nodiscard]] Result<Perplexity> measure_perplexity(Decoder& decoder, CacheForm form,
                                                    std::span<const std::int32_t> tokens,
                                                    std::size_t window,
                                                    const LoadProgress& progress);

}  // namespace axle::runtime

#pragma once
// Activation-aware scaling of weights (Lin et al., "AWQ", 2023): input channels with large
// activations get larger weights before these are rounded, and what makes the input is divided by
// as much.

#include "runtime/model/decoder.h"
#include "runtime/model/quantization/calibration.h"
#include "runtime/model/quantization/linear_list.h"
#include "runtime/model/quantization/scheme.h"

namespace axle::runtime {

/// Finds the folding of every linear layer, and divides norms and biases. The scale of a channel is
/// the mean magnitude of its activations to the power that gives the least squared error of the
/// layer's output (of some of its rows, for some of the tokens), of 0 to 1 in twentieths:
///  - queries, keys and values together, into the attention's norm;
///  - the attention's output, into the rows of values: one scale for all heads that share a value;
///  - gate and up together, into the feed-forward norm;
///  - down, into the rows of up;
///  - the last layer, which is never the embedding itself, into the final norm.
/// Of an encoder only the attention's output has factors; the importance of activations counts for
/// all layers.
[[nodiscard]] Result<void> fold_activations(Engine& engine, const ModelShape& shape,
                                            const TensorSource& source,
                                            std::span<const std::int32_t> tokens,
                                            const QuantizationScheme& scheme,
                                            const LoadProgress& progress, ModelContent& content);

}  // namespace axle::runtime

#pragma once
// Both architectures in double, written from their definitions: no cache, no batches, one token
// after the other over all that came before.

#include <cstdint>
#include <vector>

#include "tests/runtime/model/tiny_model.h"

namespace axle::runtime {

/// Logits after the last token.
std::vector<double> reference_logits(TinyModel& model, const std::vector<std::int32_t>& tokens);

/// Vectors of all tokens, [tokens][hidden].
std::vector<std::vector<double>> reference_hidden(TinyModel& model,
                                                  const std::vector<std::int32_t>& tokens);

}  // namespace axle::runtime

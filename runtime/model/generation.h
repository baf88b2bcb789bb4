#pragma once
// Texts continued token by token, several at once.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/model/decoder.h"
#include "runtime/model/sampler.h"
#include "runtime/result.h"

namespace axle::runtime {

struct Prompt {
  std::vector<std::int32_t> tokens;
  std::size_t most_tokens = 0;  ///< of the answer; the model's context ends it earlier
  Sampling sampling;
};

enum class Ending : std::uint8_t { end_token, most_tokens, context, stopped };

struct Answer {
  std::vector<std::int32_t> tokens;  ///< without the token that ended it
  Ending ending = Ending::most_tokens;
};

/// Called with each token as it comes, by the number of its prompt; false stops that answer.
using OnToken = std::function<bool(std::size_t prompt, std::int32_t token)>;

/// An answer to each prompt, the same as alone. AXLE_BAD_ARGUMENT for a prompt without tokens or
/// longer than the context; AXLE_MALFORMED if the model's numbers are not finite.
[[nodiscard]] Result<std::vector<Answer>> generate(Decoder& decoder, CacheForm form,
                                                   std::span<const Prompt> prompts,
                                                   const OnToken& on_token);

}  // namespace axle::runtime

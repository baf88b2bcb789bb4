#pragma once
// Texts continued token by token, several at once.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/machine/memory.h"
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

/// Prompts on their way to their answers, each the same as alone.
class Generation {
 public:
  /// AXLE_BAD_ARGUMENT for a prompt without tokens or longer than the context. `decoder` must
  /// outlive what is returned.
  [[nodiscard]] static Result<Generation> begin(Decoder& decoder, CacheForm form,
                                                std::span<const Prompt> prompts);

  /// One piece of work: chunks of prompts, or a token for each of the answers that run.
  /// AXLE_MALFORMED if the model's numbers are not finite; nothing runs after an error.
  [[nodiscard]] Result<void> step(const OnToken& on_token);
  /// Ends the answer of one prompt where it is.
  void stop(std::size_t prompt);

  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] bool is_running() const;
  [[nodiscard]] bool is_running(std::size_t prompt) const { return !texts_[prompt].ended; }
  [[nodiscard]] const Answer& answer(std::size_t prompt) const { return texts_[prompt].answer; }

 private:
  /// One prompt on its way.
  struct Text {
    Prompt prompt;
    Sequence sequence;
    Sampler sampler;
    Answer answer;
    std::int32_t last = 0;         ///< picked, not yet seen by the model
    axle_status picked = AXLE_OK;  ///< AXLE_MALFORMED: the logits are not finite
    bool ended = false;
  };

  explicit Generation(Decoder& decoder, CacheForm form)
      : decoder_(&decoder), pool_(std::make_unique<PagePool>(decoder.cache_shape(form))) {}

  [[nodiscard]] Result<void> advance(const OnToken& on_token);
  void gather();
  void add_picking(std::size_t index, std::span<const std::int32_t> tokens);
  void pick_tokens();
  static void pick(Text& text, std::span<const float> logits) noexcept;
  [[nodiscard]] Result<void> take_token(std::size_t index, const OnToken& on_token);

  Decoder* decoder_;
  std::unique_ptr<PagePool> pool_;
  std::vector<Text> texts_;
  std::vector<Continuation> running_;  ///< of the call that runs
  std::vector<std::size_t> picking_;   ///< the texts whose next tokens the call's logits give
  Memory logits_;                      ///< [picking][vocabulary]
};

/// All answers, whole.
[[nodiscard]] Result<std::vector<Answer>> generate(Decoder& decoder, CacheForm form,
                                                   std::span<const Prompt> prompts,
                                                   const OnToken& on_token);

}  // namespace axle::runtime

#include "runtime/model/generation.h"

#include <algorithm>
#include <cmath>

#include "runtime/quantize/rounding.h"

namespace axle::runtime {
namespace {

/// `name` is what it is called in errors.
Result<void> check(const Prompt& prompt, const std::string& name, const Decoder& decoder) {
  const ModelShape& shape = decoder.shape();
  if (prompt.tokens.empty())
    return failure(AXLE_BAD_ARGUMENT, "%s is empty: there is nothing to continue", name.c_str());
  if (prompt.tokens.size() >= shape.context)
    return failure(AXLE_BAD_ARGUMENT,
                   "%s: %s has %zu tokens and the model's context %zu; shorten it",
                   decoder.where().c_str(), name.c_str(), prompt.tokens.size(), shape.context);
  return check_tokens(shape, prompt.tokens, decoder.where(), name);
}

}  // namespace

Result<Generation> Generation::begin(Decoder& decoder, CacheForm form,
                                     std::span<const Prompt> prompts) {
  const ModelShape& shape = decoder.shape();
  Generation generation(decoder, form);
  generation.texts_.reserve(prompts.size());
  for (const Prompt& prompt : prompts) {
    const std::string name =
        prompts.size() == 1 ? "the prompt" : "prompt " + std::to_string(generation.texts_.size());
    const Result<void> checked = check(prompt, name, decoder);
    if (!checked) return std::unexpected(checked.error());
    generation.texts_.push_back(
        {prompt, Sequence(*generation.pool_), Sampler(prompt.sampling), {}});
    generation.texts_.back().ended = prompt.most_tokens == 0;
  }
  const std::size_t most = std::min(prompts.size(), Decoder::most_tokens);
  generation.logits_ = Memory(most * shape.vocabulary * sizeof(float));
  if (most > 0 && generation.logits_.data() == nullptr)
    return failure(AXLE_NO_MEMORY, "no memory for %zu answers at once", most);
  return generation;
}

bool Generation::is_running() const {
  return std::any_of(texts_.begin(), texts_.end(), [](const Text& text) { return !text.ended; });
}

void Generation::stop(std::size_t prompt) {
  Text& text = texts_[prompt];
  if (text.ended) return;
  text.ended = true;
  text.answer.ending = Ending::stopped;
}

Result<void> Generation::step(const OnToken& on_token) {
  Result<void> done = advance(on_token);
  if (done) return done;
  for (std::size_t i = 0; i < texts_.size(); ++i) stop(i);
  return done;
}

/// Tokens after which the text's next one is picked.
void Generation::add_picking(std::size_t index, std::span<const std::int32_t> tokens) {
  float* const logits = logits_.as<float>() + picking_.size() * decoder_->shape().vocabulary;
  running_.push_back({&texts_[index].sequence, tokens, logits});
  picking_.push_back(index);
}

/// Chunks of prompts, of several where they are short; with none left, the answers' last tokens.
void Generation::gather() {
  running_.clear();
  picking_.clear();
  std::size_t room = Decoder::most_tokens;
  for (std::size_t i = 0; i < texts_.size() && room > 0; ++i) {
    Text& text = texts_[i];
    const std::size_t length = text.sequence.length();
    if (text.ended || length >= text.prompt.tokens.size()) continue;
    const auto left = std::span<const std::int32_t>(text.prompt.tokens).subspan(length);
    const std::size_t count = std::min(left.size(), room);
    // The last chunk of a prompt gives its first token.
    if (count == left.size()) {
      add_picking(i, left);
    } else {
      running_.push_back({&text.sequence, left.first(count), nullptr});
    }
    room -= count;
  }
  if (!running_.empty()) return;
  for (std::size_t i = 0; i < texts_.size() && picking_.size() < Decoder::most_tokens; ++i) {
    if (!texts_[i].ended) add_picking(i, {&texts_[i].last, 1});
  }
}

Result<void> Generation::advance(const OnToken& on_token) {
  gather();
  if (running_.empty()) return {};
  const Result<void> done = decoder_->forward(running_);
  if (!done) return done;
  pick_tokens();
  for (const std::size_t index : picking_) {
    const Result<void> taken = take_token(index, on_token);
    if (!taken) return taken;
  }
  return {};
}

/// Nothing is thrown: a thread of the pool has nobody who would catch it.
void Generation::pick(Text& text, std::span<const float> logits) noexcept {
  const Result<void> picked = caught([&]() -> Result<void> {
    const bool finite = std::isfinite(largest_magnitude_of(logits.data(), logits.size()));
    text.picked = finite ? AXLE_OK : AXLE_MALFORMED;
    if (finite) text.last = text.sampler.pick(logits);
    return {};
  });
  if (!picked) text.picked = picked.error().status;
}

/// Of all texts at once: a vocabulary is long.
void Generation::pick_tokens() {
  const std::size_t vocabulary = decoder_->shape().vocabulary;
  decoder_->engine().share(
      picking_.size(), picking_.size() * vocabulary, [&](std::size_t i, std::size_t) noexcept {
        pick(texts_[picking_[i]], {logits_.as<float>() + i * vocabulary, vocabulary});
      });
}

Result<void> Generation::take_token(std::size_t index, const OnToken& on_token) {
  Text& text = texts_[index];
  if (text.picked == AXLE_NO_MEMORY)
    return failure(AXLE_NO_MEMORY, "%s: no memory to choose among %zu tokens",
                   decoder_->where().c_str(), decoder_->shape().vocabulary);
  if (text.picked != AXLE_OK)
    return failure(AXLE_MALFORMED,
                   "%s: the model's numbers overflow after %zu tokens: some of its weights are far "
                   "too large; fetch or convert the model again",
                   decoder_->where().c_str(), text.sequence.length());
  const ModelShape& shape = decoder_->shape();
  const std::int32_t token = text.last;
  text.ended = true;
  if (std::find(shape.end_tokens.begin(), shape.end_tokens.end(), token) !=
      shape.end_tokens.end()) {
    text.answer.ending = Ending::end_token;
    return {};
  }
  text.answer.tokens.push_back(token);
  if (on_token && !on_token(index, token)) {
    text.answer.ending = Ending::stopped;
  } else if (text.answer.tokens.size() >= text.prompt.most_tokens) {
    text.answer.ending = Ending::most_tokens;
  } else if (text.sequence.length() + 1 >= shape.context) {
    text.answer.ending = Ending::context;
  } else {
    text.ended = false;
  }
  return {};
}

Result<std::vector<Answer>> generate(Decoder& decoder, CacheForm form,
                                     std::span<const Prompt> prompts, const OnToken& on_token) {
  Result<Generation> generation = Generation::begin(decoder, form, prompts);
  if (!generation) return std::unexpected(generation.error());
  while (generation->is_running()) {
    const Result<void> done = generation->step(on_token);
    if (!done) return std::unexpected(done.error());
  }
  std::vector<Answer> answers;
  answers.reserve(prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) answers.push_back(generation->answer(i));
  return answers;
}

}  // namespace axle::runtime

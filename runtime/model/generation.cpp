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
        {prompt, Sequence(*generation.pool_), Sampler(prompt.sampling), {}, {}, 0, false});
    Text& text = generation.texts_.back();
    text.logits.resize(shape.vocabulary);
    text.ended = prompt.most_tokens == 0;
  }
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

/// Chunks of prompts, of several where they are short; with none left, the answers' last tokens.
void Generation::gather() {
  running_.clear();
  std::size_t room = Decoder::most_tokens;
  for (Text& text : texts_) {
    const std::size_t length = text.sequence.length();
    if (text.ended || length >= text.prompt.tokens.size() || room == 0) continue;
    const auto left = std::span<const std::int32_t>(text.prompt.tokens).subspan(length);
    const std::size_t count = std::min(left.size(), room);
    // The last chunk of a prompt gives its first token.
    running_.push_back(
        {&text.sequence, left.first(count), count == left.size() ? text.logits.data() : nullptr});
    room -= count;
  }
  if (!running_.empty()) return;
  for (Text& text : texts_) {
    if (!text.ended && running_.size() < Decoder::most_tokens)
      running_.push_back({&text.sequence, {&text.last, 1}, text.logits.data()});
  }
}

Result<void> Generation::advance(const OnToken& on_token) {
  gather();
  if (running_.empty()) return {};
  const Result<void> done = decoder_->forward(running_);
  if (!done) return done;
  std::size_t at = 0;
  for (std::size_t i = 0; i < texts_.size() && at < running_.size(); ++i) {
    if (running_[at].sequence != &texts_[i].sequence) continue;
    const Continuation& one = running_[at++];
    const Result<void> picked = one.logits == nullptr ? Result<void>() : pick(i, on_token);
    if (!picked) return picked;
  }
  return {};
}

/// The next token from the text's logits.
Result<void> Generation::pick(std::size_t index, const OnToken& on_token) {
  Text& text = texts_[index];
  if (!std::isfinite(largest_magnitude_of(text.logits.data(), text.logits.size())))
    return failure(AXLE_MALFORMED,
                   "%s: the model's numbers overflow after %zu tokens: some of its weights are far "
                   "too large; fetch or convert the model again",
                   decoder_->where().c_str(), text.sequence.length());
  const ModelShape& shape = decoder_->shape();
  const std::int32_t token = text.sampler.pick(text.logits);
  text.ended = true;
  if (std::find(shape.end_tokens.begin(), shape.end_tokens.end(), token) !=
      shape.end_tokens.end()) {
    text.answer.ending = Ending::end_token;
    return {};
  }
  text.answer.tokens.push_back(token);
  text.last = token;
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

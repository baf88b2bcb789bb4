#include "runtime/model/generation.h"

#include <algorithm>
#include <cmath>

namespace axle::runtime {
namespace {

/// One prompt on its way to its answer.
struct Text {
  const Prompt* prompt;
  Sequence sequence;
  Sampler sampler;
  Answer answer;
  std::vector<float> logits;
  std::int32_t last = 0;  ///< picked, not yet seen by the model
  bool ended = false;
};

Result<void> check(const Prompt& prompt, const ModelShape& shape) {
  if (prompt.tokens.empty())
    return failure(AXLE_BAD_ARGUMENT, "the prompt is empty: there is nothing to continue");
  if (prompt.tokens.size() >= shape.context)
    return failure(AXLE_BAD_ARGUMENT,
                   "the prompt has %zu tokens and the model's context %zu; shorten the prompt",
                   prompt.tokens.size(), shape.context);
  for (const std::int32_t token : prompt.tokens) {
    if (token < 0 || static_cast<std::size_t>(token) >= shape.vocabulary)
      return failure(AXLE_BAD_ARGUMENT, "token %d is not in the model's vocabulary of %zu", token,
                     shape.vocabulary);
  }
  return {};
}

/// The next token from the text's logits.
Result<void> pick(Text& text, const ModelShape& shape, std::size_t index, const OnToken& on_token) {
  for (const float logit : text.logits) {
    if (!std::isfinite(logit))
      return failure(
          AXLE_MALFORMED,
          "the model's numbers overflow after %zu tokens; its weights cannot be meant so",
          text.sequence.length());
  }
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
  } else if (text.answer.tokens.size() >= text.prompt->most_tokens) {
    text.answer.ending = Ending::most_tokens;
  } else if (text.sequence.length() + 1 >= shape.context) {
    text.answer.ending = Ending::context;
  } else {
    text.ended = false;
  }
  return {};
}

/// Reads a prompt in chunks; the last one gives the first logits.
Result<void> read_prompt(Decoder& decoder, Text& text) {
  std::span<const std::int32_t> left(text.prompt->tokens);
  while (!left.empty()) {
    const std::size_t count = std::min(left.size(), Decoder::most_tokens);
    const Continuation chunk{&text.sequence, left.first(count),
                             count == left.size() ? text.logits.data() : nullptr};
    const Result<void> done = decoder.forward({&chunk, 1});
    if (!done) return done;
    left = left.subspan(count);
  }
  return {};
}

}  // namespace

Result<std::vector<Answer>> generate(Decoder& decoder, CacheForm form,
                                     std::span<const Prompt> prompts, const OnToken& on_token) {
  const ModelShape& shape = decoder.shape();
  PagePool pool(decoder.cache_shape(form));
  std::vector<Text> texts;
  texts.reserve(prompts.size());
  for (const Prompt& prompt : prompts) {
    const Result<void> checked = check(prompt, shape);
    if (!checked) return std::unexpected(checked.error());
    texts.push_back({&prompt, Sequence(pool), Sampler(prompt.sampling), {}, {}, 0, false});
    texts.back().logits.resize(shape.vocabulary);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Text& text = texts[i];
    text.ended = text.prompt->most_tokens == 0;
    if (text.ended) continue;
    Result<void> done = read_prompt(decoder, text);
    if (done) done = pick(text, shape, i, on_token);
    if (!done) return std::unexpected(done.error());
  }
  std::vector<Continuation> running;
  for (;;) {
    running.clear();
    for (Text& text : texts) {
      if (!text.ended && running.size() < Decoder::most_tokens)
        running.push_back({&text.sequence, {&text.last, 1}, text.logits.data()});
    }
    if (running.empty()) break;
    const Result<void> done = decoder.forward(running);
    if (!done) return std::unexpected(done.error());
    std::size_t at = 0;
    for (std::size_t i = 0; i < texts.size() && at < running.size(); ++i) {
      if (running[at].sequence != &texts[i].sequence) continue;
      ++at;
      const Result<void> picked = pick(texts[i], shape, i, on_token);
      if (!picked) return std::unexpected(picked.error());
    }
  }
  std::vector<Answer> answers;
  answers.reserve(texts.size());
  for (Text& text : texts) answers.push_back(std::move(text.answer));
  return answers;
}

}  // namespace axle::runtime

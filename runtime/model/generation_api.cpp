// The C interface of answers: whole ones, and step by step.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/model/model_handle.h"

using axle::runtime::Ending;
using axle::runtime::Generation;
using axle::runtime::guarded;
using axle::runtime::missing_argument;
using axle::runtime::Prompt;
using axle::runtime::report;
using axle::runtime::report_failure;
using axle::runtime::TextStream;

struct axle_generation {
  /// The text of one answer so far.
  struct Shown {
    TextStream stream;
    std::string text;
    std::size_t tokens = 0;  ///< of the answer that are in `text`
    bool is_whole = false;
  };

  axle_generation(axle_model& of, Generation begun) : model(&of), generation(std::move(begun)) {
    for (std::size_t i = 0; i < generation.size(); ++i)
      shown.push_back({TextStream(of.model.tokenizer()), {}, 0, false});
  }

  void show(std::size_t prompt) {
    Shown& own = shown[prompt];
    const std::vector<std::int32_t>& tokens = generation.answer(prompt).tokens;
    for (; own.tokens < tokens.size(); ++own.tokens) own.text += own.stream.add(tokens[own.tokens]);
    if (generation.is_running(prompt) || own.is_whole) return;
    own.text += own.stream.finish();
    own.is_whole = true;
  }

  axle_model* model;
  Generation generation;
  std::vector<Shown> shown;
};

namespace {

axle_ending number_of(Ending ending) {
  switch (ending) {
    case Ending::end_token:
      return AXLE_END_TOKEN;
    case Ending::most_tokens:
      return AXLE_MOST_TOKENS;
    case Ending::context:
      return AXLE_CONTEXT;
    case Ending::stopped:
      break;
  }
  return AXLE_STOPPED;
}

axle_status take_prompts(const axle_prompt* const* prompts, std::size_t count,
                         std::vector<Prompt>& taken, axle_error* error) {
  constexpr std::size_t first_layout = offsetof(axle_prompt, seed) + sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count; ++i) {
    axle_prompt own{};
    if (!axle::runtime::take_known(prompts[i], first_layout, own) ||
        (own.tokens == nullptr && own.count > 0))
      return missing_argument(error, "a field of a prompt");
    const bool sane = own.temperature >= 0 && own.top_p >= 0 && own.top_p <= 1 && own.min_p >= 0 &&
                      own.min_p <= 1;
    if (!sane)
      return report_failure(error, AXLE_BAD_ARGUMENT,
                            "prompt %zu: temperature must be 0 or more, top_p and min_p 0 to 1", i);
    taken.push_back({std::vector<std::int32_t>(own.tokens, own.tokens + own.count),
                     own.most_tokens,
                     {.temperature = own.temperature,
                      .top_k = own.top_k,
                      .top_p = own.top_p,
                      .min_p = own.min_p,
                      .seed = own.seed}});
  }
  return AXLE_OK;
}

axle_status check_decoder(const axle_model* model, const axle_prompt* const* prompts,
                          std::size_t count, axle_error* error) {
  if (model == nullptr) return missing_argument(error, "the model");
  if (prompts == nullptr && count > 0) return missing_argument(error, "the prompts");
  if (!model->decoder)
    return report_failure(error, AXLE_UNSUPPORTED, "a model of type %s makes vectors, not texts",
                          model->model.shape().type.c_str());
  return AXLE_OK;
}

}  // namespace

axle_status axle_model_generate(axle_model* model, const axle_prompt* const* prompts, size_t count,
                                axle_on_token on_token, void* context, axle_error* error) {
  const axle_status checked = check_decoder(model, prompts, count, error);
  if (checked != AXLE_OK) return checked;
  if (on_token == nullptr) return missing_argument(error, "the function that takes tokens");
  return guarded(error, model->where(), [&]() -> axle_status {
    std::vector<Prompt> taken;
    const axle_status status = take_prompts(prompts, count, taken, error);
    if (status != AXLE_OK) return status;
    const std::lock_guard lock(model->in_use);
    const auto answers = axle::runtime::generate(*model->decoder, model->form, taken,
                                                 [&](std::size_t prompt, std::int32_t token) {
                                                   return on_token(context, prompt, token) != 0;
                                                 });
    return answers ? AXLE_OK : report(error, answers.error());
  });
}

axle_status axle_generation_create(axle_model* model, const axle_prompt* const* prompts,
                                   size_t count, axle_generation** out, axle_error* error) {
  if (out == nullptr) return missing_argument(error, "the place for the generation");
  *out = nullptr;
  const axle_status checked = check_decoder(model, prompts, count, error);
  if (checked != AXLE_OK) return checked;
  return guarded(error, model->where(), [&]() -> axle_status {
    std::vector<Prompt> taken;
    const axle_status status = take_prompts(prompts, count, taken, error);
    if (status != AXLE_OK) return status;
    auto begun = Generation::begin(*model->decoder, model->form, taken);
    if (!begun) return report(error, begun.error());
    *out = std::make_unique<axle_generation>(*model, std::move(*begun)).release();
    return AXLE_OK;
  });
}

void axle_generation_destroy(axle_generation* generation) { delete generation; }

axle_status axle_generation_step(axle_generation* generation, int32_t* running, axle_error* error) {
  if (generation == nullptr || running == nullptr)
    return missing_argument(error, "the generation or the place for what runs");
  *running = 0;
  return guarded(error, generation->model->where(), [&]() -> axle_status {
    const std::lock_guard lock(generation->model->in_use);
    const auto done = generation->generation.step({});
    if (!done) return report(error, done.error());
    *running = generation->generation.is_running() ? 1 : 0;
    return AXLE_OK;
  });
}

axle_status axle_generation_stop(axle_generation* generation, size_t prompt, axle_error* error) {
  if (generation == nullptr) return missing_argument(error, "the generation");
  if (prompt >= generation->generation.size())
    return report_failure(error, AXLE_BAD_ARGUMENT, "there is no prompt %zu; there are %zu", prompt,
                          generation->generation.size());
  generation->generation.stop(prompt);
  return AXLE_OK;
}

axle_status axle_generation_answer(axle_generation* generation, size_t prompt, axle_answer* answer,
                                   axle_error* error) {
  if (generation == nullptr) return missing_argument(error, "the generation");
  if (answer == nullptr || answer->struct_size < sizeof *answer)
    return missing_argument(error, "the place for the answer");
  if (prompt >= generation->generation.size())
    return report_failure(error, AXLE_BAD_ARGUMENT, "there is no prompt %zu; there are %zu", prompt,
                          generation->generation.size());
  return guarded(error, generation->model->where(), [&]() -> axle_status {
    generation->show(prompt);
    const axle::runtime::Answer& own = generation->generation.answer(prompt);
    answer->tokens = own.tokens.data();
    answer->count = own.tokens.size();
    answer->text = generation->shown[prompt].text.data();
    answer->text_size = generation->shown[prompt].text.size();
    answer->ending =
        generation->generation.is_running(prompt) ? AXLE_RUNNING : number_of(own.ending);
    return AXLE_OK;
  });
}

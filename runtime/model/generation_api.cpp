// The C interface of answers: whole ones, and step by step.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/model/model_handle.h"

using axle::runtime::clear_failure;
using axle::runtime::Ending;
using axle::runtime::Generation;
using axle::runtime::guarded;
using axle::runtime::guarded_alone;
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

/// A NaN is none.
bool is_share(double value) { return value >= 0 && value <= 1; }

/// `name` is what the prompt is called in errors.
axle_status check_prompt(const axle_prompt& prompt, const char* name, axle_error* error) {
  if (prompt.tokens == nullptr && prompt.count > 0)
    return report_failure(error, AXLE_BAD_ARGUMENT, "%s: tokens is NULL and count %zu", name,
                          prompt.count);
  if (!(prompt.temperature >= 0))  // nor is a NaN
    return report_failure(error, AXLE_BAD_ARGUMENT, "%s: temperature is %g; it must be 0 or more",
                          name, prompt.temperature);
  if (!is_share(prompt.top_p))
    return report_failure(error, AXLE_BAD_ARGUMENT, "%s: top_p is %g; it must be 0 to 1", name,
                          prompt.top_p);
  if (!is_share(prompt.min_p))
    return report_failure(error, AXLE_BAD_ARGUMENT, "%s: min_p is %g; it must be 0 to 1", name,
                          prompt.min_p);
  return AXLE_OK;
}

axle_status take_prompts(const axle_prompt* const* prompts, std::size_t count,
                         std::vector<Prompt>& taken, axle_error* error) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = count == 1 ? "the prompt" : "prompt " + std::to_string(i);
    axle_prompt own{};
    axle_status status = axle::runtime::take_struct(error, name.c_str(), prompts[i], own);
    if (status == AXLE_OK) status = check_prompt(own, name.c_str(), error);
    if (status != AXLE_OK) return status;
    taken.push_back({std::vector<std::int32_t>(own.tokens, own.tokens + own.count),
                     own.most_tokens,
                     {.temperature = own.temperature,
                      .top_k = own.top_k,
                      .top_p = own.top_p > 0 ? own.top_p : 1,
                      .min_p = own.min_p,
                      .seed = own.seed}});
  }
  return AXLE_OK;
}

axle_status check_decoder(const axle_model* model, const axle_prompt* const* prompts,
                          std::size_t count, axle_error* error) {
  clear_failure(error);
  if (model == nullptr) return missing_argument(error, "model");
  if (prompts == nullptr && count > 0) return missing_argument(error, "prompts");
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
  if (on_token == nullptr) return missing_argument(error, "on_token");
  return guarded_alone(error, *model, [&]() -> axle_status {
    std::vector<Prompt> taken;
    const axle_status status = take_prompts(prompts, count, taken, error);
    if (status != AXLE_OK) return status;
    const auto answers = axle::runtime::generate(*model->decoder, model->form, taken,
                                                 [&](std::size_t prompt, std::int32_t token) {
                                                   return on_token(context, prompt, token) != 0;
                                                 });
    return answers ? AXLE_OK : report(error, answers.error());
  });
}

axle_status axle_generation_create(axle_model* model, const axle_prompt* const* prompts,
                                   size_t count, axle_generation** out, axle_error* error) {
  clear_failure(error);
  if (out == nullptr) return missing_argument(error, "out");
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
  clear_failure(error);
  if (generation == nullptr) return missing_argument(error, "generation");
  if (running == nullptr) return missing_argument(error, "running");
  *running = 0;
  return guarded_alone(error, *generation->model, [&]() -> axle_status {
    const auto done = generation->generation.step({});
    if (!done) return report(error, done.error());
    *running = generation->generation.is_running() ? 1 : 0;
    return AXLE_OK;
  });
}

axle_status axle_generation_stop(axle_generation* generation, size_t prompt, axle_error* error) {
  clear_failure(error);
  if (generation == nullptr) return missing_argument(error, "generation");
  if (prompt >= generation->generation.size())
    return report_failure(error, AXLE_BAD_ARGUMENT, "there is no prompt %zu; there are %zu", prompt,
                          generation->generation.size());
  generation->generation.stop(prompt);
  return AXLE_OK;
}

axle_status axle_generation_answer(axle_generation* generation, size_t prompt, axle_answer* answer,
                                   axle_error* error) {
  clear_failure(error);
  if (generation == nullptr) return missing_argument(error, "generation");
  const axle_status status = axle::runtime::check_struct(error, "answer", answer);
  if (status != AXLE_OK) return status;
  if (prompt >= generation->generation.size())
    return report_failure(error, AXLE_BAD_ARGUMENT, "there is no prompt %zu; there are %zu", prompt,
                          generation->generation.size());
  return guarded(error, generation->model->where(), [&]() -> axle_status {
    generation->show(prompt);
    const axle::runtime::Answer& own = generation->generation.answer(prompt);
    axle_answer found{};
    found.tokens = own.tokens.data();
    found.count = own.tokens.size();
    found.text = generation->shown[prompt].text.data();
    found.text_size = generation->shown[prompt].text.size();
    found.ending = generation->generation.is_running(prompt) ? AXLE_RUNNING : number_of(own.ending);
    axle::runtime::give_struct(found, *answer);
    return AXLE_OK;
  });
}

// The C interface of models. Exceptions of the C++ library end here.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>

#include "runtime/axle_runtime.h"
#include "runtime/c_runtime.h"
#include "runtime/model/generation.h"
#include "runtime/model/layers/stored_rows.h"
#include "runtime/model/model.h"

using axle::runtime::CacheForm;
using axle::runtime::Failure;
using axle::runtime::Model;
using axle::runtime::ModelMode;
using axle::runtime::report_failure;

struct axle_model {
  explicit axle_model(Model opened) : model(std::move(opened)) {}

  std::mutex in_use;
  Model model;
  ModelMode mode{};
  CacheForm form = CacheForm::float16;
  std::optional<axle::runtime::Decoder> decoder;  ///< one of both
  std::optional<axle::runtime::Encoder> encoder;
};

namespace {

axle_status report(axle_error* error, const Failure& failure) {
  return report_failure(error, failure.status, "%s", failure.message.c_str());
}

axle_status missing_argument(axle_error* error, const char* what) {
  return report_failure(error, AXLE_BAD_ARGUMENT, "%s is missing or of an older layout", what);
}

/// Runs `work`, and makes a status of what the C++ library throws.
template <class Work>
axle_status guarded(axle_error* error, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return report_failure(error, AXLE_NO_MEMORY, "no memory");
  } catch (const std::exception& problem) {
    return report_failure(error, AXLE_BAD_ARGUMENT, "%s", problem.what());
  }
}

axle_status choose(const axle_model_options* options, axle_model& model, axle_error* error) {
  const auto mode = axle::runtime::choose_mode(
      model.model.shape(), options != nullptr && options->mode != nullptr ? options->mode : "",
      model.model.tensors().where());
  if (!mode) return report(error, mode.error());
  model.mode = *mode;
  model.form = model.mode.quantised ? CacheForm::float16 : CacheForm::float32;
  if (options == nullptr || options->kv_cache == nullptr) return AXLE_OK;
  const CacheForm* const form = axle::runtime::find_cache_form(options->kv_cache);
  if (form != nullptr) {
    model.form = *form;
    return AXLE_OK;
  }
  return report_failure(error, AXLE_BAD_ARGUMENT,
                        "there is no cache form '%.64s'; there are float16, int8 and float32",
                        options->kv_cache);
}

axle_status load(axle_runtime& runtime, const axle_model_options* options, axle_model& model,
                 axle_error* error) {
  axle::runtime::LoadProgress progress;
  if (options != nullptr && options->on_progress != nullptr)
    progress = [options](double part) { options->on_progress(options->context, part); };
  const axle::runtime::ModelShape& shape = model.model.shape();
  if (shape.architecture == axle::runtime::Architecture::decoder) {
    auto decoder = axle::runtime::Decoder::load(runtime.engine, shape, model.model.tensors(),
                                                model.mode, progress);
    if (!decoder) return report(error, decoder.error());
    model.decoder = std::move(*decoder);
  } else {
    auto encoder = axle::runtime::Encoder::load(runtime.engine, shape, model.model.tensors(),
                                                model.mode, progress);
    if (!encoder) return report(error, encoder.error());
    model.encoder = std::move(*encoder);
  }
  return AXLE_OK;
}

struct ModelFact {
  const char* key;
  std::string (*text)(const axle_model& model);
};

constexpr ModelFact model_facts[] = {
    {"type", [](const axle_model& m) { return m.model.shape().type; }},
    {"architecture",
     [](const axle_model& m) { return std::string(m.decoder ? "decoder" : "encoder"); }},
    {"vocabulary", [](const axle_model& m) { return std::to_string(m.model.shape().vocabulary); }},
    {"context", [](const axle_model& m) { return std::to_string(m.model.shape().context); }},
    {"hidden", [](const axle_model& m) { return std::to_string(m.model.shape().hidden); }},
    {"mode", [](const axle_model& m) { return std::string(m.mode.name); }},
    {"kv_cache", [](const axle_model& m) { return std::string(axle::runtime::name_of(m.form)); }}};

axle::runtime::Result<std::vector<std::int32_t>> tokens_of(const axle_model& model,
                                                           const char* text, bool raw) {
  if (model.decoder) return axle::runtime::prompt_tokens(model.model, text, raw);
  const axle::runtime::Tokenizer::Piece whole{text, true};
  return model.model.tokenizer().encode({&whole, 1}, true);
}

/// Fills what a caller has room for; says how much there is.
template <class Values, class Element>
axle_status fill(const Values& values, Element* to, std::size_t* count, axle_error* error) {
  const std::size_t room = *count;
  *count = values.size();
  if (values.size() > room)
    return report_failure(error, AXLE_BAD_ARGUMENT, "room for %zu is not enough for %zu", room,
                          values.size());
  std::copy(values.begin(), values.end(), to);
  return AXLE_OK;
}

}  // namespace

axle_status axle_model_open(axle_runtime* runtime, const char* path,
                            const axle_model_options* options, axle_model** out,
                            axle_error* error) {
  if (out == nullptr) return missing_argument(error, "the place for the model");
  *out = nullptr;
  if (runtime == nullptr) return missing_argument(error, "the runtime");
  if (path == nullptr) return missing_argument(error, "the path");
  if (options != nullptr && options->struct_size < sizeof *options)
    return missing_argument(error, "a field of the options");
  return guarded(error, [&]() -> axle_status {
    auto opened = Model::open(path);
    if (!opened) return report(error, opened.error());
    auto model = std::make_unique<axle_model>(std::move(*opened));
    axle_status status = choose(options, *model, error);
    if (status == AXLE_OK) status = load(*runtime, options, *model, error);
    if (status == AXLE_OK) *out = model.release();
    return status;
  });
}

void axle_model_destroy(axle_model* model) { delete model; }

axle_status axle_model_info(axle_model* model, size_t index, const char** key, char* value,
                            size_t size) {
  if (model == nullptr || key == nullptr || value == nullptr || size == 0 ||
      index >= sizeof model_facts / sizeof model_facts[0])
    return AXLE_BAD_ARGUMENT;
  return guarded(nullptr, [&]() -> axle_status {
    *key = model_facts[index].key;
    std::snprintf(value, size, "%s", model_facts[index].text(*model).c_str());
    return AXLE_OK;
  });
}

axle_status axle_model_tokens(axle_model* model, const char* text, int32_t raw, int32_t* tokens,
                              size_t* count, axle_error* error) {
  if (model == nullptr) return missing_argument(error, "the model");
  if (text == nullptr || count == nullptr || (tokens == nullptr && *count > 0))
    return missing_argument(error, "the text or the place for its tokens");
  return guarded(error, [&]() -> axle_status {
    const auto found = tokens_of(*model, text, raw != 0);
    if (!found) return report(error, found.error());
    return fill(*found, tokens, count, error);
  });
}

axle_status axle_model_text(axle_model* model, const int32_t* tokens, size_t count, char* text,
                            size_t* size, axle_error* error) {
  if (model == nullptr) return missing_argument(error, "the model");
  if ((tokens == nullptr && count > 0) || size == nullptr || (text == nullptr && *size > 0))
    return missing_argument(error, "the tokens or the place for their text");
  return guarded(error, [&]() -> axle_status {
    return fill(model->model.tokenizer().decode({tokens, count}, false), text, size, error);
  });
}

axle_status axle_model_generate(axle_model* model, const axle_prompt* const* prompts, size_t count,
                                axle_on_token on_token, void* context, axle_error* error) {
  if (model == nullptr) return missing_argument(error, "the model");
  if (prompts == nullptr && count > 0) return missing_argument(error, "the prompts");
  if (on_token == nullptr) return missing_argument(error, "the function that takes tokens");
  if (!model->decoder)
    return report_failure(error, AXLE_UNSUPPORTED, "a model of type %s makes vectors, not texts",
                          model->model.shape().type.c_str());
  return guarded(error, [&]() -> axle_status {
    std::vector<axle::runtime::Prompt> taken;
    for (std::size_t i = 0; i < count; ++i) {
      const axle_prompt* const own = prompts[i];
      if (own == nullptr || own->struct_size < sizeof *own ||
          (own->tokens == nullptr && own->count > 0))
        return missing_argument(error, "a field of a prompt");
      const bool sane = own->temperature >= 0 && own->top_p >= 0 && own->top_p <= 1 &&
                        own->min_p >= 0 && own->min_p <= 1;
      if (!sane)
        return report_failure(error, AXLE_BAD_ARGUMENT,
                              "prompt %zu: temperature must be 0 or more, top_p and min_p 0 to 1",
                              i);
      taken.push_back({std::vector<std::int32_t>(own->tokens, own->tokens + own->count),
                       own->most_tokens,
                       {.temperature = own->temperature,
                        .top_k = own->top_k,
                        .top_p = own->top_p,
                        .min_p = own->min_p,
                        .seed = own->seed}});
    }
    const std::lock_guard lock(model->in_use);
    const auto answers = axle::runtime::generate(*model->decoder, model->form, taken,
                                                 [&](std::size_t prompt, std::int32_t token) {
                                                   return on_token(context, prompt, token) != 0;
                                                 });
    return answers ? AXLE_OK : report(error, answers.error());
  });
}

axle_status axle_model_embed(axle_model* model, const char* const* texts, size_t count,
                             float* vectors, axle_error* error) {
  if (model == nullptr) return missing_argument(error, "the model");
  if (count > 0 && (texts == nullptr || vectors == nullptr))
    return missing_argument(error, "the texts or the place for their vectors");
  if (!model->encoder)
    return report_failure(error, AXLE_UNSUPPORTED, "a model of type %s makes texts, not vectors",
                          model->model.shape().type.c_str());
  return guarded(error, [&]() -> axle_status {
    std::vector<std::vector<std::int32_t>> tokens;
    for (std::size_t i = 0; i < count; ++i) {
      if (texts[i] == nullptr) return missing_argument(error, "a text");
      auto own = tokens_of(*model, texts[i], true);
      if (!own) return report(error, own.error());
      tokens.push_back(std::move(*own));
    }
    const std::lock_guard lock(model->in_use);
    const auto found = model->encoder->embed(tokens, model->model.pooling());
    if (!found) return report(error, found.error());
    for (std::size_t i = 0; i < found->size(); ++i)
      std::memcpy(vectors + i * (*found)[i].size(), (*found)[i].data(),
                  (*found)[i].size() * sizeof(float));
    return AXLE_OK;
  });
}

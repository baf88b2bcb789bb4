// The C interface of models. Exceptions of the C++ library end here.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "runtime/model/layers/stored_rows.h"
#include "runtime/model/model_handle.h"

using axle::runtime::CacheForm;
using axle::runtime::clear_failure;
using axle::runtime::guarded;
using axle::runtime::missing_argument;
using axle::runtime::Model;
using axle::runtime::report;
using axle::runtime::report_failure;

namespace {

axle_status choose(const axle_model_options& options, axle_model& model, axle_error* error) {
  const auto mode =
      axle::runtime::choose_mode(model.model.shape(), options.mode != nullptr ? options.mode : "",
                                 model.model.tensors().where());
  if (!mode) return report(error, mode.error());
  model.mode = *mode;
  model.form = model.mode.quantised ? CacheForm::float16 : CacheForm::float32;
  if (options.kv_cache == nullptr) return AXLE_OK;
  const CacheForm* const form = axle::runtime::find_cache_form(options.kv_cache);
  if (form != nullptr) {
    model.form = *form;
    return AXLE_OK;
  }
  return report_failure(error, AXLE_BAD_ARGUMENT,
                        "there is no cache form '%.64s'; there are float16, int8 and float32",
                        options.kv_cache);
}

axle_status load(axle_runtime& runtime, const axle_model_options& options, axle_model& model,
                 axle_error* error) {
  axle::runtime::LoadProgress progress;
  if (options.on_progress != nullptr)
    progress = [&options](double part) { options.on_progress(options.context, part); };
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

std::size_t weight_bytes(const axle_model& model) {
  return model.decoder ? model.decoder->weight_bytes() : model.encoder->weight_bytes();
}

/// Of 16 positions of one text; an encoder keeps nothing.
std::size_t cache_bytes(const axle_model& model) {
  return model.decoder ? model.decoder->cache_shape(model.form).page_bytes() : 0;
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
    {"kv_cache", [](const axle_model& m) { return std::string(axle::runtime::name_of(m.form)); }},
    {"weight_bytes", [](const axle_model& m) { return std::to_string(weight_bytes(m)); }},
    {"cache_bytes", [](const axle_model& m) { return std::to_string(cache_bytes(m)); }}};

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
  clear_failure(error);
  if (out == nullptr) return missing_argument(error, "out");
  *out = nullptr;
  if (runtime == nullptr) return missing_argument(error, "runtime");
  if (path == nullptr) return missing_argument(error, "path");
  axle_model_options known{};
  if (options != nullptr) {
    const axle_status status = axle::runtime::take_struct(error, "options", options, known);
    if (status != AXLE_OK) return status;
  }
  return guarded(error, path, [&]() -> axle_status {
    auto opened = Model::open(path);
    if (!opened) return report(error, opened.error());
    auto model = std::make_unique<axle_model>(std::move(*opened));
    axle_status status = choose(known, *model, error);
    if (status == AXLE_OK) status = load(*runtime, known, *model, error);
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
  return guarded(nullptr, model->where(), [&]() -> axle_status {
    *key = model_facts[index].key;
    std::snprintf(value, size, "%s", model_facts[index].text(*model).c_str());
    return AXLE_OK;
  });
}

axle_status axle_model_tokens(axle_model* model, const char* text, int32_t raw, int32_t* tokens,
                              size_t* count, axle_error* error) {
  clear_failure(error);
  if (model == nullptr) return missing_argument(error, "model");
  if (text == nullptr) return missing_argument(error, "text");
  if (count == nullptr) return missing_argument(error, "count");
  if (tokens == nullptr && *count > 0) return missing_argument(error, "tokens");
  return guarded(error, model->where(), [&]() -> axle_status {
    const auto found = tokens_of(*model, text, raw != 0);
    if (!found) return report(error, found.error());
    return fill(*found, tokens, count, error);
  });
}

axle_status axle_model_text(axle_model* model, const int32_t* tokens, size_t count, char* text,
                            size_t* size, axle_error* error) {
  clear_failure(error);
  if (model == nullptr) return missing_argument(error, "model");
  if (tokens == nullptr && count > 0) return missing_argument(error, "tokens");
  if (size == nullptr) return missing_argument(error, "size");
  if (text == nullptr && *size > 0) return missing_argument(error, "text");
  return guarded(error, model->where(), [&]() -> axle_status {
    return fill(model->model.tokenizer().decode({tokens, count}, false), text, size, error);
  });
}

axle_status axle_model_embed(axle_model* model, const char* const* texts, size_t count,
                             float* vectors, axle_error* error) {
  clear_failure(error);
  if (model == nullptr) return missing_argument(error, "model");
  if (count > 0 && texts == nullptr) return missing_argument(error, "texts");
  if (count > 0 && vectors == nullptr) return missing_argument(error, "vectors");
  if (!model->encoder)
    return report_failure(error, AXLE_UNSUPPORTED, "a model of type %s makes texts, not vectors",
                          model->model.shape().type.c_str());
  return axle::runtime::guarded_alone(error, *model, [&]() -> axle_status {
    const auto makes_vectors = axle::runtime::check_makes_vectors(model->model);
    if (!makes_vectors) return report(error, makes_vectors.error());
    std::vector<std::vector<std::int32_t>> tokens;
    for (std::size_t i = 0; i < count; ++i) {
      if (texts[i] == nullptr)
        return report_failure(error, AXLE_BAD_ARGUMENT, "text %zu is NULL", i);
      auto own = tokens_of(*model, texts[i], true);
      if (!own) return report(error, own.error());
      tokens.push_back(std::move(*own));
    }
    const auto found = model->encoder->embed(tokens, model->model.pooling());
    if (!found) return report(error, found.error());
    for (std::size_t i = 0; i < found->size(); ++i)
      std::memcpy(vectors + i * (*found)[i].size(), (*found)[i].data(),
                  (*found)[i].size() * sizeof(float));
    return AXLE_OK;
  });
}

axle_status axle_model_rerank(axle_model* model, const char* query, const char* const* texts,
                              size_t count, float* scores, axle_error* error) {
  clear_failure(error);
  if (model == nullptr) return missing_argument(error, "model");
  if (query == nullptr) return missing_argument(error, "query");
  if (count > 0 && texts == nullptr) return missing_argument(error, "texts");
  if (count > 0 && scores == nullptr) return missing_argument(error, "scores");
  return axle::runtime::guarded_alone(error, *model, [&]() -> axle_status {
    std::vector<std::string> owned;
    for (std::size_t i = 0; i < count; ++i) {
      if (texts[i] == nullptr)
        return report_failure(error, AXLE_BAD_ARGUMENT, "text %zu is NULL", i);
      owned.emplace_back(texts[i]);
    }
    const auto pairs = axle::runtime::reranked_pairs(model->model, query, owned);
    if (!pairs) return report(error, pairs.error());
    const auto found = model->encoder->score(*pairs);
    if (!found) return report(error, found.error());
    std::copy(found->begin(), found->end(), scores);
    return AXLE_OK;
  });
}

// model generate, model embed: texts in, texts or vectors out.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "runtime/model/generation.h"
#include "runtime/tokenizer/unicode.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Opt;

struct NamedForm {
  const char* name;
  runtime::CacheForm form;
};
constexpr NamedForm forms[] = {{"float16", runtime::CacheForm::float16},
                               {"int8", runtime::CacheForm::int8},
                               {"float32", runtime::CacheForm::float32}};

session::Outcome<runtime::CacheForm> form_option(const session::Arguments& arguments,
                                                 const runtime::ModelMode& mode) {
  if (!arguments.has(Opt::kv_cache))
    return mode.quantised ? runtime::CacheForm::float16 : runtime::CacheForm::float32;
  const std::string name = arguments.value(Opt::kv_cache);
  for (const NamedForm& one : forms) {
    if (name == one.name) return one.form;
  }
  return session::misused(
      fmt::format("--kv-cache: `{}` is none of float16, int8 and float32", name));
}

session::Outcome<runtime::Sampling> sampling_options(const session::Arguments& arguments) {
  const auto temperature = number_option(arguments, Opt::temperature, 0, 0, 100);
  if (!temperature) return std::unexpected(temperature.error());
  const auto top_k = count_option(arguments, Opt::top_k, 0, 0, UINT32_MAX);
  if (!top_k) return std::unexpected(top_k.error());
  const auto top_p = number_option(arguments, Opt::top_p, 1, 0, 1);
  if (!top_p) return std::unexpected(top_p.error());
  const auto min_p = number_option(arguments, Opt::min_p, 0, 0, 1);
  if (!min_p) return std::unexpected(min_p.error());
  const auto seed = count_option(arguments, Opt::seed, 0, 0, UINT64_MAX);
  if (!seed) return std::unexpected(seed.error());
  return runtime::Sampling{.temperature = *temperature,
                           .top_k = static_cast<std::size_t>(*top_k),
                           .top_p = *top_p,
                           .min_p = *min_p,
                           .seed = *seed};
}

session::CommandFailure wrong_architecture(const runtime::Model& model, const std::string& path,
                                           const char* wanted, const char* command) {
  return {.error = {ErrorKind::unsupported,
                    fmt::format("{}: a model of type {} {}", path, model.shape().type, wanted),
                    fmt::format("`{}` is for it", command)}};
}

const char* name_of(runtime::Ending ending) {
  switch (ending) {
    case runtime::Ending::end_token:
      return "end_token";
    case runtime::Ending::most_tokens:
      return "max_tokens";
    case runtime::Ending::context:
      return "context";
    case runtime::Ending::stopped:
      break;
  }
  return "stopped";
}

/// Bytes that are not UTF-8 become U+FFFD: JSON and terminals have no others.
std::string as_utf8(std::string_view text) {
  return runtime::encode_utf8(runtime::decode_utf8(text));
}

/// Writes tokens as they come; a character whose bytes are not all there yet waits.
class Stream {
 public:
  Stream(Output& output, const runtime::Tokenizer& tokenizer)
      : output_(output), tokenizer_(tokenizer) {}

  bool take(std::int32_t token) {
    text_ += tokenizer_.decode({&token, 1}, false);
    const std::size_t waiting = runtime::incomplete_bytes(text_);
    const std::string ready = as_utf8(std::string_view(text_).substr(0, text_.size() - waiting));
    text_.erase(0, text_.size() - waiting);
    return ready.empty() || output_.answer_part(ready);
  }

  [[nodiscard]] std::string rest() const { return as_utf8(text_) + "\n"; }

 private:
  Output& output_;
  const runtime::Tokenizer& tokenizer_;
  std::string text_;
};

}  // namespace

int run_model_generate(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const std::string path = arguments.positionals.front();
  if (!arguments.has(Opt::model_prompt))
    return output.failure(
        session::misused("--prompt is missing: there is no text to answer").error());
  const auto mode = mode_option(arguments);
  if (!mode) return output.failure(mode.error());
  const auto form = form_option(arguments, **mode);
  if (!form) return output.failure(form.error());
  const auto sampling = sampling_options(arguments);
  if (!sampling) return output.failure(sampling.error());
  const auto most = count_option(arguments, Opt::max_tokens, 256, 0, UINT32_MAX);
  if (!most) return output.failure(most.error());
  const auto engine = open_engine(session);
  if (!engine) return output.failure(engine.error());

  const auto model = runtime::Model::open(path);
  if (!model) return output.failure(model_failure(model.error()));
  if (model->shape().architecture != runtime::Architecture::decoder)
    return output.failure(
        wrong_architecture(*model, path, "makes vectors, not texts", "variant model embed"));
  auto tokens =
      runtime::prompt_tokens(*model, arguments.value(Opt::model_prompt), arguments.has(Opt::raw));
  if (!tokens) return output.failure(model_failure(tokens.error()));
  auto decoder = runtime::Decoder::load(**engine, model->shape(), model->tensors(), **mode,
                                        show_loading(output, path));
  if (!decoder) return output.failure(model_failure(decoder.error()));

  const runtime::Prompt prompt{std::move(*tokens), static_cast<std::size_t>(*most), *sampling};
  Stream stream(output, model->tokenizer());
  const bool streams = !output.options().json;
  const auto answers =
      generate(*decoder, *form, {&prompt, 1},
               [&](std::size_t, std::int32_t token) { return !streams || stream.take(token); });
  if (!answers) return output.failure(model_failure(answers.error()));
  const runtime::Answer& answer = answers->front();
  return output.answer({.text = [&] { return stream.rest(); },
                        .json = [&]() -> ordered_json {
                          return {
                              {"prompt_tokens", prompt.tokens},
                              {"tokens", answer.tokens},
                              {"text", as_utf8(model->tokenizer().decode(answer.tokens, false))},
                              {"ending", name_of(answer.ending)}};
                        }});
}

int run_model_embed(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const std::string path = arguments.positionals.front();
  if (!arguments.has(Opt::text))
    return output.failure(session::misused("--text is missing: there is no text to embed").error());
  const auto mode = mode_option(arguments);
  if (!mode) return output.failure(mode.error());
  const auto engine = open_engine(session);
  if (!engine) return output.failure(engine.error());

  const auto model = runtime::Model::open(path);
  if (!model) return output.failure(model_failure(model.error()));
  if (model->shape().architecture != runtime::Architecture::encoder)
    return output.failure(
        wrong_architecture(*model, path, "makes texts, not vectors", "variant model generate"));
  auto encoder = runtime::Encoder::load(**engine, model->shape(), model->tensors(), **mode,
                                        show_loading(output, path));
  if (!encoder) return output.failure(model_failure(encoder.error()));
  std::vector<std::vector<std::int32_t>> texts;
  for (const std::string& text : arguments.values(Opt::text)) {
    const runtime::Tokenizer::Piece piece{text, true};
    texts.push_back(model->tokenizer().encode({&piece, 1}, true));
  }
  const auto vectors = encoder->embed(texts, model->pooling());
  if (!vectors) return output.failure(model_failure(vectors.error()));
  return output.answer({.text =
                            [&] {
                              std::string lines;
                              for (const std::vector<float>& vector : *vectors) {
                                for (std::size_t i = 0; i < vector.size(); ++i)
                                  lines += fmt::format("{}{}", i == 0 ? "" : " ", vector[i]);
                                lines += "\n";
                              }
                              return lines;
                            },
                        .json = [&]() -> ordered_json { return {{"vectors", *vectors}}; }});
}

}  // namespace axle::cli

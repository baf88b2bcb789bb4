// model generate, model embed, model rerank, model ppl: texts in; texts, vectors or figures out.
#include <algorithm>
#include <numeric>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "runtime/files/model_file.h"
#include "runtime/model/generation.h"
#include "runtime/model/perplexity.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Opt;

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

}  // namespace

int run_model_generate(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const std::string path = arguments.positionals.front();
  if (!arguments.has(Opt::model_prompt))
    return output.failure(
        session::misused("--prompt is missing: there is no text to answer").error());
  const auto wanted = mode_option(arguments);
  if (!wanted) return output.failure(wanted.error());
  const auto form = form_option(arguments, **wanted);
  if (!form) return output.failure(form.error());
  const auto sampling = sampling_options(arguments);
  if (!sampling) return output.failure(sampling.error());
  const auto most = count_option(arguments, Opt::max_tokens, 256, 0, UINT32_MAX);
  if (!most) return output.failure(most.error());
  const auto engine = open_tuned_engine(session);
  if (!engine) return output.failure(engine.error());

  const auto model = open_model(session, path);
  if (!model) return output.failure(model.error());
  if (model->shape().architecture != runtime::Architecture::decoder)
    return output.failure(
        wrong_architecture(*model, path, "makes vectors, not texts", "variant model embed"));
  auto tokens =
      runtime::prompt_tokens(*model, arguments.value(Opt::model_prompt), arguments.has(Opt::raw));
  if (!tokens) return output.failure(model_failure(tokens.error()));
  const auto mode = mode_of(arguments, *model);
  if (!mode) return output.failure(mode.error());
  auto decoder = runtime::Decoder::load(**engine, model->shape(), model->tensors(), *mode,
                                        show_loading(output, path));
  if (!decoder) return output.failure(model_failure(decoder.error()));

  const runtime::Prompt prompt{std::move(*tokens), static_cast<std::size_t>(*most), *sampling};
  runtime::TextStream stream(model->tokenizer());
  const auto show = [&](std::size_t, std::int32_t token) {
    if (output.options().json) return true;
    const std::string text = stream.add(token);
    return text.empty() || output.answer_part(text);
  };
  const auto answers = generate(*decoder, *form, {&prompt, 1}, show);
  if (!answers) return output.failure(model_failure(answers.error()));
  const runtime::Answer& answer = answers->front();
  return output.answer({.text = [&] { return stream.finish() + "\n"; },
                        .json = [&]() -> ordered_json {
                          return {{"prompt_tokens", prompt.tokens},
                                  {"tokens", answer.tokens},
                                  {"text", model->tokenizer().decode(answer.tokens, false)},
                                  {"ending", name_of(answer.ending)}};
                        }});
}

int run_model_embed(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const std::string path = arguments.positionals.front();
  if (!arguments.has(Opt::text))
    return output.failure(session::misused("--text is missing: there is no text to embed").error());
  const auto wanted = mode_option(arguments);
  if (!wanted) return output.failure(wanted.error());
  const auto engine = open_tuned_engine(session);
  if (!engine) return output.failure(engine.error());

  const auto model = open_model(session, path);
  if (!model) return output.failure(model.error());
  if (model->shape().architecture != runtime::Architecture::encoder)
    return output.failure(
        wrong_architecture(*model, path, "makes texts, not vectors", "variant model generate"));
  const auto makes_vectors = runtime::check_makes_vectors(*model);
  if (!makes_vectors) return output.failure(model_failure(makes_vectors.error()));
  const auto mode = mode_of(arguments, *model);
  if (!mode) return output.failure(mode.error());
  auto encoder = runtime::Encoder::load(**engine, model->shape(), model->tensors(), *mode,
                                        show_loading(output, path));
  if (!encoder) return output.failure(model_failure(encoder.error()));
  std::vector<std::vector<std::int32_t>> texts;
  for (const std::string& text : arguments.values(Opt::text)) {
    const runtime::Tokenizer::Piece piece{text, true};
    auto tokens = model->tokenizer().encode({&piece, 1}, true);
    if (!tokens) return output.failure(model_failure(tokens.error()));
    texts.push_back(std::move(*tokens));
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

int run_model_rerank(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const std::string path = arguments.positionals.front();
  if (!arguments.has(Opt::query))
    return output.failure(
        session::misused("--query is missing: there is nothing to score texts against").error());
  if (!arguments.has(Opt::text))
    return output.failure(session::misused("--text is missing: there is no text to score").error());
  const auto wanted = mode_option(arguments);
  if (!wanted) return output.failure(wanted.error());
  const auto engine = open_tuned_engine(session);
  if (!engine) return output.failure(engine.error());

  const auto model = open_model(session, path);
  if (!model) return output.failure(model.error());
  const auto& texts = arguments.values(Opt::text);
  const auto pairs = runtime::reranked_pairs(*model, arguments.value(Opt::query), texts);
  if (!pairs) return output.failure(model_failure(pairs.error()));
  const auto mode = mode_of(arguments, *model);
  if (!mode) return output.failure(mode.error());
  auto encoder = runtime::Encoder::load(**engine, model->shape(), model->tensors(), *mode,
                                        show_loading(output, path));
  if (!encoder) return output.failure(model_failure(encoder.error()));
  const auto scores = encoder->score(*pairs);
  if (!scores) return output.failure(model_failure(scores.error()));
  return output.answer({.text =
                            [&] {
                              std::vector<std::size_t> order(texts.size());
                              std::iota(order.begin(), order.end(), std::size_t{0});
                              std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
                                return (*scores)[a] != (*scores)[b] ? (*scores)[a] > (*scores)[b]
                                                                    : a < b;
                              });
                              std::string lines;
                              for (const std::size_t i : order)
                                lines += fmt::format("{:9.4f}  {}\n", (*scores)[i], texts[i]);
                              return lines;
                            },
                        .json = [&]() -> ordered_json { return {{"scores", *scores}}; }});
}

int run_model_ppl(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const std::string path = arguments.positionals.front();
  const std::string text_path = arguments.value(Opt::text_file);
  if (text_path.empty())
    return output.failure(
        session::misused("--file is missing: there is no text to predict").error());
  const auto wanted = mode_option(arguments);
  if (!wanted) return output.failure(wanted.error());
  const auto form = form_option(arguments, **wanted);
  if (!form) return output.failure(form.error());
  const auto window = count_option(arguments, Opt::window, 512, 2, UINT32_MAX);
  if (!window) return output.failure(window.error());
  const auto engine = open_tuned_engine(session);
  if (!engine) return output.failure(engine.error());

  const auto text = runtime::read_text(text_path);
  if (!text) return output.failure(model_failure(text.error()));
  const auto model = open_model(session, path);
  if (!model) return output.failure(model.error());
  if (model->shape().architecture != runtime::Architecture::decoder)
    return output.failure(
        wrong_architecture(*model, path, "predicts no texts", "variant model embed"));
  const runtime::Tokenizer::Piece whole{*text, false};
  const auto tokens = model->tokenizer().encode({&whole, 1}, true);
  if (!tokens) return output.failure(model_failure(tokens.error()));
  const auto mode = mode_of(arguments, *model);
  if (!mode) return output.failure(mode.error());
  auto decoder = runtime::Decoder::load(**engine, model->shape(), model->tensors(), *mode,
                                        show_loading(output, path));
  if (!decoder) return output.failure(model_failure(decoder.error()));
  const auto measured =
      runtime::measure_perplexity(*decoder, *form, *tokens, static_cast<std::size_t>(*window),
                                  show_progress(output, "predicting " + text_path));
  if (!measured) return output.failure(model_failure(measured.error()));
  return output.answer({.text =
                            [&] {
                              return fmt::format("perplexity {:.4f} over {} tokens, mode {}\n",
                                                 measured->perplexity, measured->scored,
                                                 mode->name);
                            },
                        .json = [&]() -> ordered_json {
                          return {{"perplexity", measured->perplexity},
                                  {"mean", measured->mean},
                                  {"tokens", measured->scored},
                                  {"mode", mode->name}};
                        }});
}

}  // namespace axle::cli

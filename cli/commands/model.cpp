// model info, model selftest: the bundled runtime through its C interface.
#include <map>
#include <memory>
#include <optional>
#include <type_traits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "cli/views/quantization_loss.h"
#include "runtime/axle_runtime.h"
#include "runtime/model/model_selftest.h"
#include "session/session.h"
#include "session/variables.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::vector<axle_kernel_info> list_kernels() {
  std::vector<axle_kernel_info> kernels;
  for (std::size_t i = 0; i < axle_kernel_count(); ++i) {
    axle_kernel_info info{};
    info.struct_size = sizeof(info);
    if (axle_kernel_at(i, &info) != AXLE_OK) break;
    kernels.push_back(info);
  }
  return kernels;
}

ordered_json kernels_json() {
  ordered_json rows = ordered_json::array();
  for (const axle_kernel_info& kernel : list_kernels()) {
    rows.push_back({{"name", kernel.name},
                    {"built", kernel.built != 0},
                    {"usable", kernel.usable != 0},
                    {"missing", kernel.missing}});
  }
  return rows;
}

std::string render_kernels() {
  std::string text;
  for (const axle_kernel_info& kernel : list_kernels()) {
    const std::string state = kernel.usable != 0 ? "usable"
                              : kernel.built != 0
                                  ? fmt::format("not usable: the machine lacks {}", kernel.missing)
                                  : "not in this build";
    text += fmt::format("{:<16} {}\n", fmt::format("kernel {}", kernel.name), state);
  }
  return text;
}

/// Key and value, in the runtime's order.
std::vector<std::pair<std::string, std::string>> list_facts(axle_runtime& runtime) {
  std::vector<std::pair<std::string, std::string>> facts;
  const char* key = nullptr;
  char value[256];
  while (axle_runtime_info(&runtime, facts.size(), &key, value, sizeof(value)) == AXLE_OK)
    facts.emplace_back(key, value);
  return facts;
}

const char* name_of(runtime::ChatTemplate::Family family) {
  switch (family) {
    case runtime::ChatTemplate::Family::chatml:
      return "ChatML";
    case runtime::ChatTemplate::Family::llama3:
      return "Llama 3";
    case runtime::ChatTemplate::Family::mistral:
      break;
  }
  return "Mistral";
}

struct Fact {
  const char* key;
  std::string text;
  ordered_json json;
};

/// Weights by the type they are stored in, "q4_1 94371840, float32 35136".
std::string describe_weights(const runtime::TensorSource& tensors, std::uint64_t& total) {
  std::map<std::string, std::uint64_t> by_type;
  for (const runtime::Tensor& tensor : tensors.tensors()) {
    const std::uint64_t count = tensor.rows() * tensor.columns();
    by_type[runtime::row(tensor.type).name] += count;
    total += count;
  }
  std::string text;
  for (const auto& [type, count] : by_type)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", type, count);
  return text;
}

std::vector<Fact> describe(const runtime::Model& model) {
  const runtime::ModelShape& shape = model.shape();
  std::vector<Fact> facts;
  const auto add_text = [&](const char* key, const std::string& text) {
    facts.push_back({key, text, text});
  };
  const auto add_count = [&](const char* key, std::uint64_t count) {
    facts.push_back({key, std::to_string(count), count});
  };
  std::uint64_t weights = 0;
  const std::string by_type = describe_weights(model.tensors(), weights);
  add_text("type", shape.type);
  add_text("command", shape.architecture == runtime::Architecture::decoder ? "generate" : "embed");
  add_count("weights", weights);
  add_text("stored", by_type);
  if (shape.stored)
    add_text("quantized", shape.stored->group == 0
                              ? fmt::format("{} ({})", shape.stored->mode, shape.stored->method)
                              : fmt::format("{} ({}, groups of {})", shape.stored->mode,
                                            shape.stored->method, shape.stored->group));
  add_count("layers", shape.layers);
  add_count("hidden", shape.hidden);
  add_count("heads", shape.heads);
  add_count("key_value_heads", shape.key_heads);
  add_count("head_depth", shape.head_depth);
  add_count("feed_forward", shape.feed_forward);
  add_count("vocabulary", shape.vocabulary);
  add_count("context", shape.context);
  add_text("chat_template", model.chat_template() ? name_of(model.chat_template()->family())
                                                  : model.chat_template().error().message);
  return facts;
}

/// What quantising to --mode would lose, by the mode's usual method.
session::Outcome<std::optional<runtime::QuantizationReport>> measure(session::Session& session,
                                                                     const runtime::Model& model,
                                                                     Output& output) {
  if (!session.arguments().has(session::Opt::mode)) return std::nullopt;
  const auto mode = mode_option(session.arguments());
  if (!mode) return std::unexpected(mode.error());
  const auto scheme = runtime::choose_scheme(**mode, "", 0);
  if (!scheme) return session::misused(scheme.error().message);
  const auto engine = open_engine(session);
  if (!engine) return std::unexpected(engine.error());
  auto report = runtime::measure_loss(
      **engine, model,
      {.scheme = *scheme,
       .calibration = {},
       .on_calibration = {},
       .on_weights = show_progress(output, "measuring " + model.tensors().where())});
  if (!report) return std::unexpected(model_failure(report.error()));
  return std::move(*report);
}

int show_model(session::Session& session, const std::string& path, Output& output) {
  const auto model = open_model(session, path);
  if (!model) return output.failure(model.error());
  const auto loss = measure(session, *model, output);
  if (!loss) return output.failure(loss.error());
  const std::vector<Fact> facts = describe(*model);
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const Fact& fact : facts)
                                text += fmt::format("{:<16} {}\n", fact.key, fact.text);
                              return *loss ? text + loss_text(**loss) : text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json object = ordered_json::object();
                          for (const Fact& fact : facts) object[fact.key] = fact.json;
                          if (*loss) object["quantization"] = loss_json(**loss);
                          return {{"model", object}};
                        }});
}

runtime::Result<runtime::ModelSelftest> load_and_test(runtime::Engine& engine,
                                                      const runtime::Model& model,
                                                      const std::string& path,
                                                      const runtime::ModelMode& mode,
                                                      runtime::CacheForm form, Output& output) {
  const runtime::LoadProgress loading = show_loading(output, path);
  const runtime::LoadProgress testing = show_progress(output, "testing " + path);
  return with_loaded(engine, model, mode, loading, [&](auto& loaded) {
    if constexpr (std::is_same_v<decltype(loaded), runtime::Decoder&>) {
      return selftest_model(engine, loaded, form, testing);
    } else {
      return selftest_model(engine, loaded, model.pooling(), testing);
    }
  });
}

int test_model(session::Session& session, const std::string& path, Output& output) {
  const auto wanted = mode_option(session.arguments());
  if (!wanted) return output.failure(wanted.error());
  const auto form = form_option(session.arguments(), **wanted);
  if (!form) return output.failure(form.error());
  const auto engine = open_engine(session);
  if (!engine) return output.failure(engine.error());
  const auto model = open_model(session, path);
  if (!model) return output.failure(model.error());
  const auto mode = mode_of(session.arguments(), *model);
  if (!mode) return output.failure(mode.error());
  const auto tested = load_and_test(**engine, *model, path, *mode, *form, output);
  if (!tested) return output.failure(model_failure(tested.error()));
  const std::string hash = fmt::format("{:016x}", tested->hash);
  return output.answer(
      {.text =
           [&] {
             std::string names;
             for (const std::string& name : tested->kernels)
               names += (names.empty() ? "" : ", ") + name;
             return fmt::format("the same bits from {} in mode {}: {} shapes of layers; hash {}\n",
                                names, mode->name, tested->shapes, hash);
           },
       .json = [&]() -> ordered_json {
         return {{"mode", mode->name},
                 {"tested", tested->kernels},
                 {"shapes", tested->shapes},
                 {"hash", hash},
                 {"kernels", kernels_json()}};
       }});
}

}  // namespace

int run_model_info(session::Session& session, Output& output) {
  const std::vector<std::string>& models = session.arguments().positionals;
  if (models.size() > 1)
    return output.failure(session::misused("model info describes one model at a time").error());
  if (models.size() == 1) return show_model(session, models.front(), output);
  if (session.arguments().has(session::Opt::mode))
    return output.failure(session::misused("--mode is for a model, which is missing").error());
  auto runtime = open_runtime(0);
  if (!runtime) return output.failure(runtime.error());
  const auto facts = list_facts(**runtime);
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const auto& [key, value] : facts)
                                text += fmt::format("{:<16} {}\n", key, value);
                              return text + render_kernels();
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json info = ordered_json::object();
                          for (const auto& [key, value] : facts) info[key] = value;
                          return {{"info", info}, {"kernels", kernels_json()}};
                        }});
}

int run_model_selftest(session::Session& session, Output& output) {
  const std::vector<std::string>& models = session.arguments().positionals;
  if (models.size() > 1)
    return output.failure(session::misused("model selftest takes one model at a time").error());
  auto runtime = open_runtime(0);
  if (!runtime) return output.failure(runtime.error());
  axle_error error{};
  if (axle_runtime_selftest(runtime->get(), &error) != AXLE_OK) {
    return output.failure(runtime_failure(error).error());
  }
  if (models.size() == 1) return test_model(session, models.front(), output);
  return output.answer({.text =
                            [] {
                              const std::string forced = session::variable("AXLE_RUNTIME_KERNEL");
                              return (forced.empty()
                                          ? "every kernel that this machine can run gives"
                                          : "kernel " + forced + " gives") +
                                     " the reference's results\n";
                            },
                        .json = []() -> ordered_json { return {{"kernels", kernels_json()}}; }});
}

}  // namespace axle::cli

// model info, model bench, model selftest: the bundled runtime through its C interface.
#include <map>
#include <memory>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "cli/views/quantization_loss.h"
#include "runtime/axle_runtime.h"
#include "session/session.h"
#include "session/variables.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

struct DestroyRuntime {
  void operator()(axle_runtime* runtime) const { axle_runtime_destroy(runtime); }
};
using RuntimePtr = std::unique_ptr<axle_runtime, DestroyRuntime>;

std::unexpected<session::CommandFailure> runtime_failure(const axle_error& error) {
  const bool unsupported = error.status == AXLE_UNSUPPORTED;
  return session::failed_to_choose(
      {unsupported ? ErrorKind::unsupported : ErrorKind::mismatch, error.message,
       unsupported ? "`variant model info` shows the kernels and what they need" : ""});
}

session::Outcome<RuntimePtr> open_runtime(const session::Session& session, std::uint32_t threads) {
  if (session.elsewhere()) {
    return session::misused("the runtime runs on this machine: --for is not supported here",
                            "`variant properties --for h100` shows what another machine supports");
  }
  const std::string kernel = session::variable("AXLE_RUNTIME_KERNEL");
  axle_runtime_options options{};
  options.struct_size = sizeof(options);
  options.kernel = kernel.c_str();
  options.threads = static_cast<std::int32_t>(threads);
  axle_runtime* runtime = nullptr;
  axle_error error{};
  if (axle_runtime_create(&options, &runtime, &error) != AXLE_OK) return runtime_failure(error);
  return RuntimePtr(runtime);
}

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

struct Shape {
  axle_mode mode;
  const char* name;
};
constexpr Shape modes[] = {{AXLE_A16W8, "a16w8"}, {AXLE_DA8W8, "da8w8"}};

struct Measurement {
  const char* mode;
  std::string kernel;
  axle_bench_options options;
  axle_bench_result result;
};

std::string render(const Measurement& one) {
  return fmt::format(
      "{} {}x{}x{} {}: {:.0f} us, {:.1f} GB/s of weights ({:.0f} % of plain reads), {:.0f} Gop/s\n",
      one.mode, one.options.m, one.options.n, one.options.k, one.kernel, one.result.microseconds,
      one.result.gigabytes_per_second,
      100 * one.result.gigabytes_per_second / one.result.read_gigabytes_per_second,
      one.result.gigaops_per_second);
}

ordered_json measurement_json(const Measurement& one) {
  return {{"mode", one.mode},
          {"kernel", one.kernel},
          {"m", one.options.m},
          {"n", one.options.n},
          {"k", one.options.k},
          {"microseconds", one.result.microseconds},
          {"gigabytes_per_second", one.result.gigabytes_per_second},
          {"gigaops_per_second", one.result.gigaops_per_second},
          {"read_gigabytes_per_second", one.result.read_gigabytes_per_second}};
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
  const auto model = runtime::Model::open(path);
  if (!model) return output.failure(model_failure(model.error()));
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

}  // namespace

int run_model_info(session::Session& session, Output& output) {
  const std::vector<std::string>& models = session.arguments().positionals;
  if (models.size() > 1)
    return output.failure(session::misused("model info describes one model at a time").error());
  if (models.size() == 1) return show_model(session, models.front(), output);
  if (session.arguments().has(session::Opt::mode))
    return output.failure(session::misused("--mode is for a model, which is missing").error());
  auto runtime = open_runtime(session, 0);
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

int run_model_bench(session::Session& session, Output& output) {
  const auto batch = count_option(session.arguments(), session::Opt::batch, 1, 1, 65536);
  if (!batch) return output.failure(batch.error());
  const auto threads = count_option(session.arguments(), session::Opt::threads, 0, 1, 65536);
  if (!threads) return output.failure(threads.error());
  auto runtime = open_runtime(session, static_cast<std::uint32_t>(*threads));
  if (!runtime) return output.failure(runtime.error());
  std::vector<Measurement> measured;
  for (const Shape& shape : modes) {
    Measurement one{.mode = shape.name, .kernel = {}, .options = {}, .result = {}};
    one.options.struct_size = sizeof(one.options);
    one.options.mode = shape.mode;
    one.options.m = *batch;
    one.options.n = 4096;
    one.options.k = 4096;
    one.result.struct_size = sizeof(one.result);
    axle_error error{};
    if (axle_runtime_bench(runtime->get(), &one.options, &one.result, &error) != AXLE_OK)
      return output.failure(runtime_failure(error).error());
    one.kernel = axle_runtime_kernel(runtime->get(), shape.mode, *batch);
    measured.push_back(std::move(one));
  }
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const Measurement& one : measured) text += render(one);
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (const Measurement& one : measured)
                            rows.push_back(measurement_json(one));
                          return {{"bench", rows}};
                        }});
}

int run_model_selftest(session::Session& session, Output& output) {
  auto runtime = open_runtime(session, 0);
  if (!runtime) return output.failure(runtime.error());
  axle_error error{};
  if (axle_runtime_selftest(runtime->get(), &error) != AXLE_OK) {
    return output.failure(runtime_failure(error).error());
  }
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

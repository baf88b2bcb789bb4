// model bench: how fast a model runs, or one layer.
#include <algorithm>
#include <type_traits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "runtime/machine/clock.h"
#include "runtime/tune/model_speed.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Opt;

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

int bench_layer(session::Session& session, Output& output) {
  const auto batch = count_option(session.arguments(), session::Opt::batch, 1, 1, 65536);
  if (!batch) return output.failure(batch.error());
  const auto threads = count_option(session.arguments(), session::Opt::threads, 0, 1, 65536);
  if (!threads) return output.failure(threads.error());
  auto runtime = open_runtime(static_cast<std::uint32_t>(*threads));
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

struct MeasuredModel {
  double load_seconds = 0;
  std::size_t weight_bytes = 0;
  runtime::ModelSpeed speed;
};

runtime::Result<MeasuredModel> load_and_measure(runtime::Engine& engine,
                                                const runtime::Model& model,
                                                const std::string& path,
                                                const runtime::ModelMode& mode,
                                                runtime::CacheForm form, Output& output) {
  const runtime::LoadProgress loading = show_loading(output, path);
  const runtime::LoadProgress measuring = show_progress(output, "measuring " + path);
  MeasuredModel measured;
  const double start = runtime::now();
  auto speed = with_loaded(engine, model, mode, loading, [&](auto& loaded) {
    measured.load_seconds = runtime::now() - start;
    measured.weight_bytes = loaded.weight_bytes();
    if constexpr (std::is_same_v<decltype(loaded), runtime::Decoder&>) {
      return measure_speed(engine, loaded, form, measuring);
    } else {
      return measure_speed(engine, loaded, model.pooling(), measuring);
    }
  });
  if (!speed) return std::unexpected(speed.error());
  measured.speed = std::move(*speed);
  return measured;
}

/// The part of a call's best time that plain reads of its bytes would take.
double part_of_floor(const runtime::CallSpeed& call, const runtime::ModelSpeed& speed) {
  if (speed.read_bytes_per_second <= 0) return 0;
  return static_cast<double>(call.bytes) / speed.read_bytes_per_second / call.best;
}

std::string render_speed(const MeasuredModel& measured, const char* mode) {
  std::string text =
      fmt::format("mode {}: loaded in {:.2f} s, {:.1f} MB of weights; plain reads {:.1f} GB/s\n",
                  mode, measured.load_seconds, static_cast<double>(measured.weight_bytes) / 1e6,
                  measured.speed.read_bytes_per_second / 1e9);
  text +=
      fmt::format("{:<9} {:>5} {:>6} {:>10} {:>9} {:>9}{}\n", "call", "texts", "tokens", "tokens/s",
                  "ms", "of reads", measured.speed.tuned ? fmt::format(" {:>9}", "x default") : "");
  for (const runtime::CallSpeed& call : measured.speed.calls)
    text += fmt::format("{:<9} {:>5} {:>6} {:>10.1f} {:>9.2f} {:>9.2f}{}\n", call.what, call.batch,
                        call.tokens, static_cast<double>(call.tokens) / call.median,
                        call.median * 1e3, part_of_floor(call, measured.speed),
                        measured.speed.tuned ? fmt::format(" {:>9.3f}", call.gain) : "");
  return text;
}

ordered_json speed_json(const MeasuredModel& measured, const char* mode) {
  ordered_json calls = ordered_json::array();
  for (const runtime::CallSpeed& call : measured.speed.calls)
    calls.push_back({{"call", call.what},
                     {"texts", call.batch},
                     {"tokens", call.tokens},
                     {"bytes", call.bytes},
                     {"tokens_per_second", static_cast<double>(call.tokens) / call.median},
                     {"seconds", call.median},
                     {"best_seconds", call.best},
                     {"default_seconds", call.default_median},
                     {"gain", call.gain},
                     {"of_reads", part_of_floor(call, measured.speed)}});
  return {{"mode", mode},
          {"load_seconds", measured.load_seconds},
          {"weight_bytes", measured.weight_bytes},
          {"read_gigabytes_per_second", measured.speed.read_bytes_per_second / 1e9},
          {"tuned", measured.speed.tuned},
          {"speed", calls}};
}

int bench_model(session::Session& session, const std::string& path, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.has(Opt::batch))
    return output.failure(
        session::misused("--batch is for a layer: a model is measured with 1, 8 and 32 texts")
            .error());
  const auto wanted = mode_option(arguments);
  if (!wanted) return output.failure(wanted.error());
  const auto form = form_option(arguments, **wanted);
  if (!form) return output.failure(form.error());
  const auto engine = open_tuned_engine(session);
  if (!engine) return output.failure(engine.error());
  const auto model = open_model(session, path);
  if (!model) return output.failure(model.error());
  const auto mode = mode_of(arguments, *model);
  if (!mode) return output.failure(mode.error());
  const auto measured = load_and_measure(**engine, *model, path, *mode, *form, output);
  if (!measured) return output.failure(model_failure(measured.error()));
  return output.answer({.text = [&] { return render_speed(*measured, mode->name); },
                        .json = [&] { return speed_json(*measured, mode->name); }});
}

}  // namespace

int run_model_bench(session::Session& session, Output& output) {
  const std::vector<std::string>& models = session.arguments().positionals;
  if (models.size() > 1)
    return output.failure(session::misused("model bench measures one model at a time").error());
  return models.empty() ? bench_layer(session, output)
                        : bench_model(session, models.front(), output);
}

}  // namespace axle::cli

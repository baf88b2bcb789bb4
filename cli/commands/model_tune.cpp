// model tune: measures how a model's layers are run fastest here, and keeps it.
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/command.h"
#include "cli/opened_model.h"
#include "runtime/tune/tuner.h"
#include "session/cache/cache_lock.h"
#include "session/output_file.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Opt;

/// What a file holds already, which is to be added to.
session::Outcome<runtime::TuningTable> table_in(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return runtime::TuningTable{};
  auto table = runtime::read_tuning(path);
  if (table) return *std::move(table);
  session::CommandFailure failure = model_failure(table.error());
  failure.error.hint = "choose another file: this one would be replaced";
  return std::unexpected(std::move(failure));
}

/// Nothing is measured for minutes before it is known that there is a place for it.
session::Outcome<void> check_places(session::Session& session) {
  const std::string exported = session.arguments().value(Opt::export_table);
  if (!exported.empty()) {
    const auto table = table_in(exported);
    if (!table) return std::unexpected(table.error());
  } else if (kept_tuning_path(session).empty()) {
    return session::misused("there is no cache to keep measurements in; name a file with --export");
  }
  return {};
}

/// Writes what was measured into the cache and the file of --export; the names of what was written.
session::Outcome<std::vector<std::string>> keep(session::Session& session,
                                                const runtime::MachineSignature& machine,
                                                const runtime::Tuning& tuning) {
  std::vector<std::string> written;
  const std::string kept = kept_tuning_path(session);
  if (!kept.empty()) {
    const auto lock = session::share_cache(session.cache_folder(), session.report());
    std::error_code ignored;  // writing says why
    std::filesystem::create_directories(std::filesystem::path(kept).parent_path(), ignored);
    // What cannot be read has been said when the engine was opened, and is replaced.
    auto before = runtime::read_tuning(kept);
    runtime::TuningTable table = before ? *std::move(before) : runtime::TuningTable{};
    table.put(machine, tuning.shapes, tuning.layers);
    const auto done = session::write_output(kept, render_tuning(table), "measurements");
    if (!done) return std::unexpected(done.error());
    written.push_back(kept);
  }
  const std::string exported = session.arguments().value(Opt::export_table);
  if (!exported.empty()) {
    auto table = table_in(exported);
    if (!table) return std::unexpected(table.error());
    table->put(machine, tuning.shapes, tuning.layers);
    const auto done = session::write_output(exported, render_tuning(*table), "tuning table");
    if (!done) return std::unexpected(done.error());
    written.push_back(exported);
  }
  return written;
}

runtime::Result<runtime::Tuning> load_and_tune(runtime::Engine& engine, const runtime::Model& model,
                                               const std::string& path,
                                               const runtime::ModelMode& mode, Output& output) {
  const runtime::LoadProgress loading = show_loading(output, path);
  const runtime::LoadProgress tuning = show_progress(output, "measuring layers of " + path);
  return with_loaded(engine, model, mode, loading,
                     [&](auto& loaded) { return tune_layers(engine, loaded.linears(), tuning); });
}

std::string describe_rows(std::size_t rows) {
  return rows == runtime::row_buckets[runtime::bucket_count - 1] ? "more" : std::to_string(rows);
}

std::string render(const runtime::Tuning& tuning, const std::vector<std::string>& files) {
  std::string text;
  for (const runtime::TunedBucket& bucket : tuning.buckets)
    text +=
        bucket.changed == 0
            ? fmt::format("rows {:>4}: the default is as fast as anything\n",
                          describe_rows(bucket.rows))
            : fmt::format("rows {:>4}: {} of {} shapes changed, {:.2f} times as fast together\n",
                          describe_rows(bucket.rows), bucket.changed, tuning.shapes.size(),
                          bucket.gain);
  for (const runtime::TunedLayer& layer : tuning.layers) {
    text += fmt::format("  {} x {}, rows {}: {}", layer.shape.n, layer.shape.k,
                        describe_rows(layer.rows), layer.kernel);
    if (layer.threads != 0) text += fmt::format(", {} threads", layer.threads);
    if (layer.chunk != 0) text += fmt::format(", chunks of {} KiB", layer.chunk >> 10U);
    text += fmt::format(", {:.2f}\n", layer.gain);
  }
  text += fmt::format("{} measurements; something else ran during {}\n", tuning.measurements,
                      tuning.disturbed);
  if (tuning.undecided > 0)
    text += fmt::format("{} of {} choices are left to the default: the machine was too busy\n",
                        tuning.undecided, tuning.shapes.size() * tuning.buckets.size());
  for (const std::string& file : files) text += "written: " + file + "\n";
  return text;
}

ordered_json tuning_json(const runtime::Tuning& tuning, const std::vector<std::string>& files,
                         const char* mode, std::uint64_t threads) {
  ordered_json rows = ordered_json::array();
  for (const runtime::TunedBucket& bucket : tuning.buckets)
    rows.push_back({{"rows", bucket.rows}, {"changed", bucket.changed}, {"gain", bucket.gain}});
  ordered_json layers = ordered_json::array();
  for (const runtime::TunedLayer& layer : tuning.layers)
    layers.push_back({{"n", layer.shape.n},
                      {"k", layer.shape.k},
                      {"rows", layer.rows},
                      {"kernel", layer.kernel},
                      {"threads", layer.threads},
                      {"chunk", layer.chunk},
                      {"gain", layer.gain}});
  return {{"mode", mode},
          {"threads", threads},
          {"shapes", tuning.shapes.size()},
          {"measurements", tuning.measurements},
          {"disturbed", tuning.disturbed},
          {"undecided", tuning.undecided},
          {"rows", rows},
          {"layers", layers},
          {"files", files}};
}

}  // namespace

int run_model_tune(session::Session& session, Output& output) {
  const std::string path = session.arguments().positionals.front();
  const auto wanted = mode_option(session.arguments());
  if (!wanted) return output.failure(wanted.error());
  // With its words about tables that cannot be used; what is in them is forgotten.
  const auto engine = open_tuned_engine(session);
  if (!engine) return output.failure(engine.error());
  if ((*engine)->forced())
    return output.failure(
        session::misused("AXLE_RUNTIME_KERNEL forces a kernel set: there is no choice to measure")
            .error());
  const auto places = check_places(session);
  if (!places) return output.failure(places.error());
  const auto model = open_model(session, path);
  if (!model) return output.failure(model.error());
  const auto mode = mode_of(session.arguments(), *model);
  if (!mode) return output.failure(mode.error());
  const auto tuning = load_and_tune(**engine, *model, path, *mode, output);
  if (!tuning) return output.failure(model_failure(tuning.error()));
  const runtime::MachineSignature machine = machine_signature(**engine);
  const auto files = keep(session, machine, *tuning);
  if (!files) return output.failure(files.error());
  return output.answer(
      {.text = [&] { return render(*tuning, *files); },
       .json = [&] { return tuning_json(*tuning, *files, mode->name, machine.threads); }});
}

}  // namespace axle::cli

#include "cli/opened_model.h"

#include <charconv>

#include <fmt/core.h>
#include <unistd.h>

#include "runtime/model/layers/stored_rows.h"
#include "runtime/tune/tuning_table.h"
#include "session/models/model_place.h"
#include "session/variables.h"

namespace axle::cli {

namespace {

ErrorKind kind_of(axle_status status) {
  switch (status) {
    case AXLE_UNSUPPORTED:
      return ErrorKind::unsupported;
    case AXLE_IO:
    case AXLE_NO_MEMORY:
      return ErrorKind::io;
    case AXLE_MISMATCH:
      return ErrorKind::mismatch;
    default:
      return ErrorKind::malformed;
  }
}

template <class Number>
bool parse_whole(const std::string& text, Number& number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

}  // namespace

session::CommandFailure model_failure(const runtime::Failure& failure) {
  return {.error = {kind_of(failure.status), failure.message, ""}};
}

session::Outcome<std::uint64_t> count_option(const session::Arguments& arguments, session::Opt id,
                                             std::uint64_t fallback, std::uint64_t least,
                                             std::uint64_t most) {
  if (!arguments.has(id)) return fallback;
  const std::string text = arguments.value(id);
  std::uint64_t count = 0;
  if (!parse_whole(text, count) || count < least || count > most)
    return session::misused(fmt::format("{}: `{}` is not a number from {} to {}",
                                        session::option_row(id).names, text, least, most));
  return count;
}

session::Outcome<double> number_option(const session::Arguments& arguments, session::Opt id,
                                       double fallback, double least, double most) {
  if (!arguments.has(id)) return fallback;
  const std::string text = arguments.value(id);
  double number = 0;
  const bool is_number = parse_whole(text, number);
  const bool is_within = number >= least && number <= most;  // never so for NaN
  if (!is_number || !is_within)
    return session::misused(fmt::format("{}: `{}` is not a number from {} to {}",
                                        session::option_row(id).names, text, least, most));
  return number;
}

session::Outcome<const runtime::ModelMode*> mode_option(const session::Arguments& arguments) {
  const std::string name =
      arguments.has(session::Opt::mode) ? arguments.value(session::Opt::mode) : "a16w8";
  const runtime::ModelMode* const mode = runtime::find_mode(name);
  if (mode != nullptr) return mode;
  std::string known;
  for (const runtime::ModelMode& one : runtime::model_modes())
    known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
  return session::misused(fmt::format("--mode: there is no mode `{}`; there are {}", name, known));
}

session::Outcome<runtime::ModelMode> mode_of(const session::Arguments& arguments,
                                             const runtime::Model& model) {
  auto mode = runtime::choose_mode(model.shape(), arguments.value(session::Opt::mode),
                                   model.tensors().where());
  if (!mode) return std::unexpected(model_failure(mode.error()));
  return *mode;
}

session::Outcome<std::unique_ptr<runtime::Engine>> open_engine(const session::Session& session) {
  const auto threads = count_option(session.arguments(), session::Opt::threads, 0, 1,
                                    runtime::ThreadPool::most_threads);
  if (!threads) return std::unexpected(threads.error());
  auto engine = std::make_unique<runtime::Engine>(static_cast<int>(*threads));
  const std::string kernel = session::variable("AXLE_RUNTIME_KERNEL");
  axle_error error{};
  const axle_status status = engine->choose_kernels(kernel.c_str(), &error);
  if (status == AXLE_OK) return engine;
  return session::failed_to_choose(
      {kind_of(status), error.message,
       status == AXLE_UNSUPPORTED ? "`variant model info` shows the kernels and what they need"
                                  : ""});
}

session::Outcome<runtime::CacheForm> form_option(const session::Arguments& arguments,
                                                 const runtime::ModelMode& mode) {
  if (!arguments.has(session::Opt::kv_cache))
    return mode.quantised ? runtime::CacheForm::float16 : runtime::CacheForm::float32;
  const std::string name = arguments.value(session::Opt::kv_cache);
  const runtime::CacheForm* const form = runtime::find_cache_form(name);
  if (form != nullptr) return *form;
  return session::misused(
      fmt::format("--kv-cache: `{}` is none of float16, int8 and float32", name));
}

std::string kept_tuning_path(const session::Session& session) {
  const std::string folder = session.cache_folder();
  return folder.empty() ? folder : folder + "/tuning-1/layers.json";
}

namespace {

/// Whether the file says something of this machine.
bool take_tuning(const std::string& path, runtime::Engine& engine, Report& report) {
  if (path.empty() || access(path.c_str(), F_OK) != 0) return false;
  const auto table = runtime::read_tuning(path);
  if (!table) {
    report.warn("what was measured of layers is not used: " + table.error().message,
                "`variant model tune` measures again", path);
    return false;
  }
  const auto taken = runtime::apply_tuning(*table, engine);
  report.detail(taken ? fmt::format("{}: {} choices for layers", path, *taken)
                      : fmt::format("{} is not used: {}", path, taken.error().message));
  return taken.has_value();
}

}  // namespace

session::Outcome<std::unique_ptr<runtime::Engine>> open_tuned_engine(session::Session& session) {
  auto engine = open_engine(session);
  if (!engine || (*engine)->forced()) return engine;
  if (!take_tuning(kept_tuning_path(session), **engine, session.report()))
    take_tuning(runtime::shipped_tuning_path(), **engine, session.report());
  return engine;
}

session::Outcome<runtime::Model> open_model(session::Session& session, const std::string& path) {
  // Its files stay open: the place may go once they are.
  const auto place = session::ModelPlace::find(session, path);
  if (!place) return std::unexpected(session::CommandFailure{.error = place.error()});
  auto model = runtime::Model::open(place->path());
  if (model) return std::move(*model);
  session::CommandFailure failure = model_failure(model.error());
  if (place->path() != path)
    failure.error.message = fmt::format("{}, unpacked: {}", path, failure.error.message);
  return std::unexpected(std::move(failure));
}

runtime::LoadProgress show_progress(Output& output, std::string what) {
  constexpr double steps = 100;
  return [&output, what = std::move(what)](double part) {
    output.progress(
        {what, static_cast<std::uint64_t>(part * steps), static_cast<std::uint64_t>(steps)});
  };
}

runtime::LoadProgress show_loading(Output& output, const std::string& path) {
  return show_progress(output, "loading " + path);
}

std::unexpected<session::CommandFailure> runtime_failure(const axle_error& error) {
  const bool unsupported = error.status == AXLE_UNSUPPORTED;
  return session::failed_to_choose(
      {unsupported ? ErrorKind::unsupported : ErrorKind::mismatch, error.message,
       unsupported ? "`variant model info` shows the kernels and what they need" : ""});
}

session::Outcome<RuntimePtr> open_runtime(std::uint32_t threads) {
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

}  // namespace axle::cli

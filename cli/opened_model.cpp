#include "cli/opened_model.h"

#include <charconv>

#include <fmt/core.h>

#include "runtime/model/layers/stored_rows.h"
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
  if (session.elsewhere()) {
    return session::misused("the runtime runs on this machine: --for is not supported here",
                            "`variant properties --for h100` shows what another machine supports");
  }
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

runtime::LoadProgress show_progress(Output& output, std::string what) {
  constexpr double steps = 1000;
  return [&output, what = std::move(what)](double part) {
    output.progress(what, static_cast<std::uint64_t>(part * steps),
                    static_cast<std::uint64_t>(steps));
  };
}

runtime::LoadProgress show_loading(Output& output, const std::string& path) {
  return show_progress(output, "loading " + path);
}

}  // namespace axle::cli

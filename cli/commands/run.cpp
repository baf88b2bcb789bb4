// run info, run bench, run selftest: the bundled runtime through its C interface.
#include <charconv>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
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

std::unexpected<session::Failure> runtime_failure(const axle_error& error) {
  const bool unsupported = error.status == AXLE_UNSUPPORTED;
  return session::failed_to_choose(
      {unsupported ? ErrorKind::unsupported : ErrorKind::mismatch, error.message,
       unsupported ? "`variant run info` shows the kernels and what they need" : ""});
}

/// A whole number of at least 1; `fallback` when the option was not given.
session::Outcome<std::uint32_t> count_of(const session::Arguments& arguments, session::Opt id,
                                         std::uint32_t fallback) {
  if (!arguments.has(id)) return fallback;
  const std::string text = arguments.value(id);
  std::uint32_t count = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || count == 0 ||
      count > 65536) {
    return session::misused(fmt::format("`{}` is not a number from 1 to 65536", text));
  }
  return count;
}

session::Outcome<RuntimePtr> open_runtime(const session::Session& session, std::uint32_t threads) {
  if (session.elsewhere()) {
    return session::misused("the runtime runs on this machine: --for has no meaning here",
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

ordered_json kernels_json() {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < axle_kernel_count(); ++i) {
    axle_kernel_info info{};
    info.struct_size = sizeof(info);
    if (axle_kernel_at(i, &info) != AXLE_OK) break;
    rows.push_back({{"name", info.name},
                    {"built", info.built != 0},
                    {"usable", info.usable != 0},
                    {"missing", info.missing}});
  }
  return rows;
}

struct Shape {
  axle_mode mode;
  const char* name;
};
constexpr Shape modes[] = {{AXLE_A16W8, "a16w8"}, {AXLE_DA8W8, "da8w8"}};

}  // namespace

int run_runtime_info(session::Session& session, Output& output) {
  auto runtime = open_runtime(session, 0);
  if (!runtime) return output.failure(runtime.error());
  ordered_json facts = ordered_json::object();
  std::string text;
  const char* key = nullptr;
  char value[256];
  for (std::size_t i = 0;
       axle_runtime_info(runtime->get(), i, &key, value, sizeof(value)) == AXLE_OK; ++i) {
    facts[key] = value;
    text += fmt::format("{:<16} {}\n", key, value);
  }
  const ordered_json kernels = kernels_json();
  for (const ordered_json& kernel : kernels) {
    const std::string name = kernel["name"].get<std::string>();
    const std::string missing = kernel["missing"].get<std::string>();
    text += fmt::format("{:<16} {}\n", "kernel " + name,
                        kernel["usable"].get<bool>()  ? "usable"
                        : kernel["built"].get<bool>() ? "not here: the machine lacks " + missing
                                                      : "not in this build");
  }
  return output.answer(text, {{"info", facts}, {"kernels", kernels}});
}

int run_runtime_bench(session::Session& session, Output& output) {
  const auto batch = count_of(session.arguments(), session::Opt::batch, 1);
  if (!batch) return output.failure(batch.error());
  const auto threads = count_of(session.arguments(), session::Opt::threads, 0);
  if (!threads) return output.failure(threads.error());
  auto runtime = open_runtime(session, *threads);
  if (!runtime) return output.failure(runtime.error());
  std::string text;
  ordered_json rows = ordered_json::array();
  for (const Shape& shape : modes) {
    axle_bench_options options{};
    options.struct_size = sizeof(options);
    options.mode = shape.mode;
    options.m = *batch;
    options.n = 4096;
    options.k = 4096;
    axle_bench_result result{};
    result.struct_size = sizeof(result);
    axle_error error{};
    if (axle_runtime_bench(runtime->get(), &options, &result, &error) != AXLE_OK) {
      return output.failure(runtime_failure(error).error());
    }
    const std::string kernel = axle_runtime_kernel(runtime->get(), shape.mode, *batch);
    text += fmt::format(
        "{} {}x4096x4096 {}: {:.0f} us, {:.1f} GB/s of weights ({:.0f} % of plain reads), {:.0f} "
        "Gop/s\n",
        shape.name, *batch, kernel, result.microseconds, result.gigabytes_per_second,
        100 * result.gigabytes_per_second / result.read_gigabytes_per_second,
        result.gigaops_per_second);
    rows.push_back({{"mode", shape.name},
                    {"kernel", kernel},
                    {"m", options.m},
                    {"n", options.n},
                    {"k", options.k},
                    {"microseconds", result.microseconds},
                    {"gigabytes_per_second", result.gigabytes_per_second},
                    {"gigaops_per_second", result.gigaops_per_second},
                    {"read_gigabytes_per_second", result.read_gigabytes_per_second}});
  }
  return output.answer(text, {{"bench", rows}});
}

int run_runtime_selftest(session::Session& session, Output& output) {
  auto runtime = open_runtime(session, 0);
  if (!runtime) return output.failure(runtime.error());
  axle_error error{};
  if (axle_runtime_selftest(runtime->get(), &error) != AXLE_OK) {
    return output.failure(runtime_failure(error).error());
  }
  const std::string forced = session::variable("AXLE_RUNTIME_KERNEL");
  return output.answer((forced.empty() ? "every kernel that this machine can run gives"
                                       : "kernel " + forced + " gives") +
                           " the reference's results\n",
                       {{"kernels", kernels_json()}});
}

}  // namespace axle::cli

#include "runtime/runtime.h"

#include <memory>
#include <sstream>

#include "runtime/axle_runtime.h"

namespace axle::runtime {
namespace {

struct Destroy {
  void operator()(axle_runtime* runtime) const { axle_runtime_destroy(runtime); }
};
using Handle = std::unique_ptr<axle_runtime, Destroy>;

Outcome create(const RuntimeChoice& choice, Handle& handle) {
  const axle_runtime_options options{.struct_size = sizeof(axle_runtime_options),
                                     .kernel = choice.kernel.c_str(),
                                     .threads = static_cast<std::int32_t>(choice.threads)};
  axle_runtime* runtime = nullptr;
  axle_error error{};
  if (axle_runtime_create(&options, &runtime, &error) != AXLE_OK) return {error.message};
  handle.reset(runtime);
  return {};
}

std::vector<KernelStatus> list_kernels() {
  std::vector<KernelStatus> kernels;
  for (std::size_t i = 0; i < axle_kernel_count(); ++i) {
    axle_kernel_info info{};
    info.struct_size = sizeof info;
    if (axle_kernel_at(i, &info) != AXLE_OK) continue;
    KernelStatus status{info.name, info.built != 0, info.usable != 0, {}};
    std::istringstream words(info.missing);
    for (std::string word; words >> word;) status.missing.push_back(word);
    kernels.push_back(std::move(status));
  }
  return kernels;
}

}  // namespace

Outcome describe(const RuntimeChoice& choice, RuntimeInfo& info) {
  info = {};
  info.version = axle_runtime_version();
  info.kernels = list_kernels();
  Handle handle;
  if (Outcome outcome = create(choice, handle); !outcome.ok()) return outcome;
  const char* key = nullptr;
  char value[128];
  for (std::size_t i = 0; axle_runtime_info(handle.get(), i, &key, value, sizeof value) == AXLE_OK;
       ++i) {
    const std::string name = key;
    if (name == "kernel") info.kernel = value;
    if (name == "forced") info.forced = std::string(value) == "yes";
    if (name == "threads") info.threads = static_cast<unsigned>(std::stoul(value));
  }
  return {};
}

Outcome selftest(const RuntimeChoice& choice) {
  Handle handle;
  if (Outcome outcome = create(choice, handle); !outcome.ok()) return outcome;
  axle_error error{};
  if (axle_runtime_selftest(handle.get(), &error) != AXLE_OK) return {error.message};
  return {};
}

Outcome bench(const RuntimeChoice& choice, const BenchShape& shape, BenchFigures& figures) {
  Handle handle;
  if (Outcome outcome = create(choice, handle); !outcome.ok()) return outcome;
  const axle_mode mode = shape.mode == Mode::a16w8 ? AXLE_A16W8 : AXLE_DA8W8;
  const axle_bench_options options{.struct_size = sizeof(axle_bench_options),
                                   .mode = mode,
                                   .m = shape.m,
                                   .n = shape.n,
                                   .k = shape.k,
                                   .weight_bytes = shape.weight_bytes,
                                   .seconds = shape.seconds};
  axle_bench_result result{};
  result.struct_size = sizeof result;
  axle_error error{};
  if (axle_runtime_bench(handle.get(), &options, &result, &error) != AXLE_OK)
    return {error.message};
  figures = {axle_runtime_kernel(handle.get(), mode, shape.m), result.microseconds,
             result.gigabytes_per_second, result.gigaops_per_second,
             result.read_gigabytes_per_second};
  return {};
}

}  // namespace axle::runtime

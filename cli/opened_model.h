#pragma once
// What the commands of `variant model` share: the runtime's threads and kernels, and a model.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cli/output.h"
#include "runtime/engine.h"
#include "runtime/model/model.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::cli {

/// What the runtime says of its files, as an error of a command.
[[nodiscard]] session::CommandFailure model_failure(const runtime::Failure& failure);

/// A whole number from `least` to `most`; `fallback` if the option was not given.
[[nodiscard]] session::Outcome<std::uint64_t> count_option(const session::Arguments& arguments,
                                                           session::Opt id, std::uint64_t fallback,
                                                           std::uint64_t least, std::uint64_t most);

/// A number from `least` to `most`; `fallback` if the option was not given.
[[nodiscard]] session::Outcome<double> number_option(const session::Arguments& arguments,
                                                     session::Opt id, double fallback, double least,
                                                     double most);

/// --mode, `a16w8` if it was not given: whether there is such a mode.
[[nodiscard]] session::Outcome<const runtime::ModelMode*> mode_option(
    const session::Arguments& arguments);

/// --kv-cache, what the mode has if it was not given.
[[nodiscard]] session::Outcome<runtime::CacheForm> form_option(const session::Arguments& arguments,
                                                               const runtime::ModelMode& mode);

/// The mode that the model runs in: --mode, or the one that its weights are stored in.
[[nodiscard]] session::Outcome<runtime::ModelMode> mode_of(const session::Arguments& arguments,
                                                           const runtime::Model& model);

/// --threads and AXLE_RUNTIME_KERNEL.
[[nodiscard]] session::Outcome<std::unique_ptr<runtime::Engine>> open_engine(
    const session::Session& session);
/// The same, and how layers are run fastest: of the file that `variant model tune` keeps, else of
/// one that lies beside the program. A file that cannot be used is left alone, with a word.
[[nodiscard]] session::Outcome<std::unique_ptr<runtime::Engine>> open_tuned_engine(
    session::Session& session);

/// Where `variant model tune` keeps what it measured; "" without a cache.
[[nodiscard]] std::string kept_tuning_path(const session::Session& session);

/// A model: a GGUF file, a folder, or an archive, which is unpacked into the cache
/// (session/models/model_place.h).
[[nodiscard]] session::Outcome<runtime::Model> open_model(session::Session& session,
                                                          const std::string& path);

/// Shows how far something long is.
[[nodiscard]] runtime::LoadProgress show_progress(Output& output, std::string what);
/// Shows how far a model is loaded.
[[nodiscard]] runtime::LoadProgress show_loading(Output& output, const std::string& path);

/// Loads the model's weights and gives what `work` makes of the decoder or the encoder that it is.
template <class Work>
auto with_loaded(runtime::Engine& engine, const runtime::Model& model,
                 const runtime::ModelMode& mode, const runtime::LoadProgress& progress, Work work)
    -> decltype(work(std::declval<runtime::Decoder&>())) {
  const runtime::ModelShape& shape = model.shape();
  if (shape.architecture == runtime::Architecture::decoder) {
    auto decoder = runtime::Decoder::load(engine, shape, model.tensors(), mode, progress);
    if (!decoder) return std::unexpected(decoder.error());
    return work(*decoder);
  }
  auto encoder = runtime::Encoder::load(engine, shape, model.tensors(), mode, progress);
  if (!encoder) return std::unexpected(encoder.error());
  return work(*encoder);
}

struct DestroyRuntime {
  void operator()(axle_runtime* runtime) const { axle_runtime_destroy(runtime); }
};
using RuntimePtr = std::unique_ptr<axle_runtime, DestroyRuntime>;

/// The runtime through its C interface, with AXLE_RUNTIME_KERNEL; `threads` 0: all.
[[nodiscard]] session::Outcome<RuntimePtr> open_runtime(std::uint32_t threads);
/// What the C interface says, as an error of a command.
[[nodiscard]] std::unexpected<session::CommandFailure> runtime_failure(const axle_error& error);

}  // namespace axle::cli

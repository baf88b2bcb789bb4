#pragma once
// What the commands of `variant model` share: the runtime's threads and kernels, and a model.

#include <cstdint>
#include <string>

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

/// The mode that the model runs in: --mode, or the one that its weights are stored in.
[[nodiscard]] session::Outcome<runtime::ModelMode> mode_of(const session::Arguments& arguments,
                                                           const runtime::Model& model);

/// --threads and AXLE_RUNTIME_KERNEL.
[[nodiscard]] session::Outcome<std::unique_ptr<runtime::Engine>> open_engine(
    const session::Session& session);

/// Shows how far something long is.
[[nodiscard]] runtime::LoadProgress show_progress(Output& output, std::string what);
/// Shows how far a model is loaded.
[[nodiscard]] runtime::LoadProgress show_loading(Output& output, const std::string& path);

}  // namespace axle::cli

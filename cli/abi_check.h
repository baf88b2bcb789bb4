#pragma once
// --check-abi: whether the extension modules of what is to be installed find their symbols and
// libraries in what they are loaded with, and on the machine. Wheels are read by ranges, installed
// packages where they are; nothing is installed for it.

#include <expected>
#include <functional>
#include <vector>

#include "binaries/system_runtime.h"
#include "detect/machine.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/environment/environment.h"
#include "installer/environment/installed.h"
#include "plan/resolution.h"
#include "resolver/request/options.h"
#include "resolver/solver/unresolved.h"

namespace axle::cli {

/// The libraries of the machine in question. `host`: nullptr if it is not this one.
[[nodiscard]] binaries::SystemRuntime runtime_of(const detect::Machine& machine, detect::Host* host,
                                                 const installer::Environment& environment);

/// What `resolve` finds; again where the libraries of wheels say which GPU platform they are for,
/// which `options` knows then, and without the wheels whose ABI does not suit the rest, or which
/// lack what an installed package that stays found so far; it refuses these until all of it does.
/// Each is said in `report`, and how much was read; what cannot be read refuses nothing.
/// `installed`: what stays, unless it is in the resolution.
[[nodiscard]] std::expected<plan::Resolution, resolver::Unresolved> resolve_with_abi(
    const std::function<std::expected<plan::Resolution, resolver::Unresolved>()>& resolve,
    resolver::Options& options, const std::vector<installer::InstalledDistribution>& installed,
    binaries::SystemRuntime& machine, index::Transport& transport, Report& report);

}  // namespace axle::cli

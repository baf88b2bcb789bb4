#pragma once
// The machine that the program runs on, probed according to the user's settings.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/report.h"
#include "machines/selection.h"

namespace axle::session {

/// AXLE_DRIVER_TIMEOUT and the like: "5", "0.5" or "5s" are seconds, "500ms" milliseconds; 1 ms to
/// `longest`. nullopt for everything else.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_time_limit(
    std::string_view text, std::chrono::milliseconds longest);

/// The machine from the site's profile if there is a valid one (machines/site_profile.h); otherwise
/// probed. Drivers' answers are cached under `cache_folder` unless it is empty; the libraries of
/// `stated` vendors are not queried.
[[nodiscard]] detect::Machine probe_this_machine(const std::string& cache_folder,
                                                 std::vector<detect::GpuVendor> stated,
                                                 Report& report);

/// The same, with the recorded answers, scrubbed. `again`: use neither the site's profile nor
/// cached answers.
[[nodiscard]] machines::NamedMachine record_this_machine(bool again, Report& report);

}  // namespace axle::session

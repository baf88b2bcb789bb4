#include "cli/this_machine.h"

#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/core.h>

#include "cli/variables.h"
#include "cli/version.h"
#include "detect/driver_cache.h"
#include "detect/probe.h"

namespace axle::cli {

std::optional<std::chrono::milliseconds> parse_driver_timeout(std::string_view text) {
  double factor = 1000;
  if (text.ends_with("ms")) {
    factor = 1;
    text.remove_suffix(2);
  } else if (text.ends_with('s')) {
    text.remove_suffix(1);
  }
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  constexpr double most = 600'000;
  value *= factor;
  if (std::isnan(value) || value < 1 || value > most) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(value));
}

detect::Machine probe_this_machine(const std::string& cache_folder, Report& report) {
  detect::ProbeOptions options;
  if (const std::string limit = variable("AXLE_DRIVER_TIMEOUT"); !limit.empty()) {
    if (const auto time = parse_driver_timeout(limit)) {
      options.driver_time_limit = *time;
    } else {
      report.warn(fmt::format("AXLE_DRIVER_TIMEOUT={} is ignored: it is no time", limit),
                  "write seconds, as in 5 or 0.5, or milliseconds, as in 500ms, up to 600");
    }
  }
  const auto host = detect::make_real_host();
  detect::DriverCache cached(*host, {.folder = cache_folder.empty() ? "" : cache_folder + "/detect",
                                     .program = std::string(version),
                                     .now = std::time(nullptr)});
  return detect::probe_machine(cached, options);
}

}  // namespace axle::cli

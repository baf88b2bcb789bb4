#pragma once
// Conformance of a plugin: tests what an installer expects of it. One row per check
// (conformance_checks.cpp); this runs the plugin often enough to judge.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/report.h"
#include "providers/plugins/plugin.h"

namespace axle::plugins {

enum class Grade : std::uint8_t { ok, warn, fail };

struct CheckResult {
  std::string_view name;  ///< "stable"
  Grade grade = Grade::ok;
  std::string message;  ///< what was found, one line
  std::string hint;     ///< what to do about it; empty where all is well
};

struct ConformanceOptions {
  std::size_t runs = 100;  ///< how often `supported` is asked, at least once
  AskOptions ask = {};
};

/// The observations of a plugin.
struct PluginTrial {
  const Plugin* plugin = nullptr;
  PluginLimits limits;
  PluginAnswer supported;  ///< the first time
  PluginAnswer all;        ///< the first time
  /// For all answers to `supported`, sorted by duration.
  std::vector<std::chrono::milliseconds> times;
  std::size_t differing_run = 0;  ///< the first whose lists differ from the first run's; 0: none
  std::string difference;         ///< what differs, for a person
  std::string all_difference;     ///< between two answers to `all`
  std::size_t peak_memory = 0;    ///< bytes, of all runs
  /// On a machine without devices.
  PluginAnswer bare_supported;
  PluginAnswer bare_all;
  /// With denied system calls recorded.
  PluginAnswer watched_supported;
  PluginAnswer watched_all;
};

/// Runs the plugin: `runs` times here and once on a bare machine.
[[nodiscard]] PluginTrial try_plugin(const Plugin& plugin, const ConformanceOptions& options,
                                     Report& report);

/// Every check that can be made with the observations.
[[nodiscard]] std::vector<CheckResult> judge(const PluginTrial& trial);

/// The difference between two answers, in a few words; empty: none.
[[nodiscard]] std::string difference_between(const providers::Features& one,
                                             const providers::Features& other);

[[nodiscard]] std::string_view render_grade(Grade grade);

}  // namespace axle::plugins

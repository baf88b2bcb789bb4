#include "providers/plugins/conformance.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace axle::plugins {
namespace {

using providers::Feature;
using providers::Features;

/// How often `all` is run: it must not depend on anything.
constexpr std::size_t runs_of_all = 3;

AskOptions on_a_bare_machine(AskOptions options) {
  options.bare_machine = true;
  // Plugins that read the masks instead of the devices find none either.
  options.environment = {{"CUDA_VISIBLE_DEVICES", "-1"}, {"NVIDIA_VISIBLE_DEVICES", "void"},
                         {"HIP_VISIBLE_DEVICES", "-1"},  {"ROCR_VISIBLE_DEVICES", "-1"},
                         {"ASCEND_VISIBLE_DEVICES", ""}, {"TPU_VISIBLE_CHIPS", ""}};
  return options;
}

void note_run(PluginTrial& trial, std::size_t run, PluginAnswer&& answer) {
  trial.times.push_back(answer.duration);
  trial.peak_memory = std::max(trial.peak_memory, answer.peak_memory);
  const std::string difference =
      answer.features ? difference_between(*trial.supported.features, *answer.features)
                      : answer.features.error().message;
  if (difference.empty()) return;
  trial.differing_run = run;
  trial.difference = difference;
}

}  // namespace

PluginTrial try_plugin(const Plugin& plugin, const ConformanceOptions& options, Report& report) {
  PluginTrial trial;
  trial.plugin = &plugin;
  trial.limits = options.ask.limits;
  trial.supported = ask_plugin(plugin, Query::supported, options.ask);
  trial.all = ask_plugin(plugin, Query::all, options.ask);
  trial.times.push_back(trial.supported.duration);
  trial.peak_memory = std::max(trial.supported.peak_memory, trial.all.peak_memory);
  if (!trial.supported.features || !trial.all.features) return trial;

  // One difference is enough: a plugin that hangs occasionally would cost a time limit each time.
  for (std::size_t run = 2; run <= options.runs && trial.differing_run == 0; ++run) {
    report.progress({"asking", run, options.runs});
    note_run(trial, run, ask_plugin(plugin, Query::supported, options.ask));
  }
  for (std::size_t run = 1; run < runs_of_all && trial.all_difference.empty(); ++run) {
    const PluginAnswer again = ask_plugin(plugin, Query::all, options.ask);
    trial.all_difference = again.features ? difference_between(*trial.all.features, *again.features)
                                          : again.features.error().message;
  }
  const AskOptions bare = on_a_bare_machine(options.ask);
  trial.bare_supported = ask_plugin(plugin, Query::supported, bare);
  trial.bare_all = ask_plugin(plugin, Query::all, bare);
  AskOptions watched = options.ask;
  watched.watched = true;
  trial.watched_supported = ask_plugin(plugin, Query::supported, watched);
  trial.watched_all = ask_plugin(plugin, Query::all, watched);
  std::ranges::sort(trial.times);
  return trial;
}

std::string difference_between(const Features& one, const Features& other) {
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    if (i >= one.size()) return fmt::format("feature {} is new", other[i].name);
    if (i >= other.size()) return fmt::format("feature {} is gone", one[i].name);
    const Feature& left = one[i];
    const Feature& right = other[i];
    if (left.name != right.name)
      return fmt::format("feature {} instead of {}", right.name, left.name);
    if (left.multi_value != right.multi_value)
      return fmt::format("multi_value of {} differs", left.name);
    const auto [before, after] = std::ranges::mismatch(left.values, right.values);
    if (before == left.values.end() && after == right.values.end()) continue;
    if (before == left.values.end()) return fmt::format("value {} of {} is new", *after, left.name);
    if (after == right.values.end())
      return fmt::format("value {} of {} is gone", *before, left.name);
    return fmt::format("value {} of {} instead of {}", *after, left.name, *before);
  }
  return {};
}

std::string_view render_grade(Grade grade) {
  switch (grade) {
    case Grade::ok:
      return "ok";
    case Grade::warn:
      return "warn";
    case Grade::fail:
      return "fail";
  }
  return "";
}

}  // namespace axle::plugins

#include "providers/plugins/conformance.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace axle::plugins {
namespace {

using providers::Feature;
using providers::Features;

/// How often `all` is asked: it must not depend on anything.
constexpr std::size_t runs_of_all = 3;

AskOptions on_a_bare_machine(AskOptions options) {
  options.bare_machine = true;
  // Who asks the masks instead of the devices finds none either.
  options.environment = {{"CUDA_VISIBLE_DEVICES", "-1"}, {"NVIDIA_VISIBLE_DEVICES", "void"},
                         {"HIP_VISIBLE_DEVICES", "-1"},  {"ROCR_VISIBLE_DEVICES", "-1"},
                         {"ASCEND_VISIBLE_DEVICES", ""}, {"TPU_VISIBLE_CHIPS", ""}};
  return options;
}

void note_run(Evidence& evidence, std::size_t run, PluginAnswer&& answer) {
  evidence.times.push_back(answer.duration);
  evidence.peak_memory = std::max(evidence.peak_memory, answer.peak_memory);
  const std::string difference =
      answer.features ? difference_between(*evidence.supported.features, *answer.features)
                      : answer.features.error().message;
  if (difference.empty()) return;
  evidence.differing_run = run;
  evidence.difference = difference;
}

}  // namespace

Evidence gather_evidence(const Plugin& plugin, const ConformanceOptions& options, Report& report) {
  Evidence evidence;
  evidence.plugin = &plugin;
  evidence.limits = options.ask.limits;
  evidence.supported = ask_plugin(plugin, Query::supported, options.ask);
  evidence.all = ask_plugin(plugin, Query::all, options.ask);
  evidence.times.push_back(evidence.supported.duration);
  evidence.peak_memory = std::max(evidence.supported.peak_memory, evidence.all.peak_memory);
  if (!evidence.supported.features || !evidence.all.features) return evidence;

  // One that differs is enough: a plugin that hangs now and then would cost a time limit each.
  for (std::size_t run = 2; run <= options.runs && evidence.differing_run == 0; ++run) {
    report.progress("asking", run, options.runs);
    note_run(evidence, run, ask_plugin(plugin, Query::supported, options.ask));
  }
  for (std::size_t run = 1; run < runs_of_all && evidence.all_difference.empty(); ++run) {
    const PluginAnswer again = ask_plugin(plugin, Query::all, options.ask);
    evidence.all_difference = again.features
                                  ? difference_between(*evidence.all.features, *again.features)
                                  : again.features.error().message;
  }
  const AskOptions bare = on_a_bare_machine(options.ask);
  evidence.bare_supported = ask_plugin(plugin, Query::supported, bare);
  evidence.bare_all = ask_plugin(plugin, Query::all, bare);
  AskOptions watched = options.ask;
  watched.watched = true;
  evidence.watched_supported = ask_plugin(plugin, Query::supported, watched);
  evidence.watched_all = ask_plugin(plugin, Query::all, watched);
  std::ranges::sort(evidence.times);
  return evidence;
}

std::string difference_between(const Features& one, const Features& other) {
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    if (i >= one.size()) return fmt::format("feature {} is new", other[i].name);
    if (i >= other.size()) return fmt::format("feature {} is gone", one[i].name);
    const Feature& left = one[i];
    const Feature& right = other[i];
    if (left.name != right.name)
      return fmt::format("feature {} is in the place of {}", right.name, left.name);
    if (left.multi_value != right.multi_value)
      return fmt::format("multi_value of {} differs", left.name);
    const auto [before, after] = std::ranges::mismatch(left.values, right.values);
    if (before == left.values.end() && after == right.values.end()) continue;
    if (before == left.values.end()) return fmt::format("value {} of {} is new", *after, left.name);
    if (after == right.values.end())
      return fmt::format("value {} of {} is gone", *before, left.name);
    return fmt::format("value {} of {} is in the place of {}", *after, left.name, *before);
  }
  return {};
}

std::string_view render_verdict(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warn:
      return "warn";
    case Verdict::fail:
      return "fail";
  }
  return "";
}

}  // namespace axle::plugins

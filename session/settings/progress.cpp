#include "session/settings/progress.h"

#include <algorithm>
#include <array>

#include "session/settings/truth.h"

namespace axle::session {

namespace {

constexpr std::array<std::string_view, 4> choices = {"auto", "on", "off", "json"};

const Stated* last_of(const SettingsLayer& layer, std::string_view key) {
  const auto found = layer.values.find(key);
  return found == layer.values.end() || found->second.empty() ? nullptr : &found->second.back();
}

}  // namespace

std::string take_progress(WeighedLayers& layers) {
  for (const SettingsLayer& layer : layers.each()) {
    const Stated* none = last_of(layer, "no-progress");
    const Stated* which = last_of(layer, "progress");
    const auto is_off = none == nullptr ? false : truth_of(none->value);
    if (!is_off) layers.refuse(*none, "no-progress", "is neither true nor false");
    if (which != nullptr && std::ranges::find(choices, which->value) == choices.end())
      layers.refuse(*which, "progress", "is not known",
                    "auto, on, off, or json: events on stderr, one JSON object a line");
    if (is_off.value_or(false) && which != nullptr && which->value != "off")
      layers.refuse(*which, "progress", "contradicts " + none->origin, "leave one of them out");
    if (is_off.value_or(false)) return "off";
    if (which != nullptr) return which->value;
  }
  return "auto";
}

std::string progress_of(const Arguments& command_line) {
  if (command_line.has(Opt::progress)) return command_line.value(Opt::progress);
  return command_line.has(Opt::no_progress) ? "off" : "auto";
}

}  // namespace axle::session

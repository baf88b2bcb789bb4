#include "tests/plugins/attempts.h"

#include <chrono>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace testing {

using namespace axle::plugins;

PluginAnswer ask(const Plugin& plugin, AskOptions options) {
  if (options.limits.time == AskOptions{}.limits.time)
    options.limits.time = std::chrono::seconds(60);
  return ask_plugin(plugin, Query::supported, options);
}

std::string outcome(const ScratchFolder& folder, std::string_view expression) {
  const Plugin plugin = folder.executable(
      fmt::format("{}\nattempt('it', lambda: {})\n{}", attempt, expression, answer));
  const PluginAnswer answered = ask(plugin);
  CHECK_MESSAGE(answered.features.has_value(), answered.printed);
  const std::size_t at = answered.printed.find("it: ");
  if (at == std::string::npos) return answered.printed;
  return answered.printed.substr(at + 4, answered.printed.find('\n', at) - at - 4);
}

bool is_denied(const std::string& what) {
  return what.starts_with("PermissionError") || what.starts_with("OSError");
}

bool skip_without(bool there, const char* what) {
  if (!there) MESSAGE("skipped: this kernel has no " << what);
  return !there;
}

bool skip_python() {
  const std::string missing = python_missing();
  if (!missing.empty()) MESSAGE("skipped: " << missing);
  return !missing.empty();
}

}  // namespace testing

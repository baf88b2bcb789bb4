#include "providers/plugins/plugin.h"

#include <chrono>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "providers/plugins/conformance.h"
#include "tests/plugins/attempts.h"

using namespace axle::plugins;
using namespace std::chrono_literals;

namespace {

/// `supported` and `all` with these names of features.
PluginAnswer declared(std::string_view supported, std::string_view all) {
  const testing::ScratchFolder folder;
  const Plugin plugin = folder.executable(fmt::format(
      "name = {{'supported': '{}', 'all': '{}'}}[sys.argv[1]]\n"
      "if not name: sys.exit(1)\n"
      "print(json.dumps({{'namespace': 'acme', 'features': [{{'name': name, 'multi_value': True, "
      "'values': ['x']}}]}}))\n",
      supported, all));
  AskOptions options;
  options.limits.time = 60s;
  return std::move(supported_by({&plugin, 1}, options).front());
}

}  // namespace

TEST_CASE("what is supported must be declared") {
  if (testing::skip_python()) return;
  CHECK(declared("speed", "speed").features.has_value());
  const PluginAnswer lie = declared("speed", "other");
  REQUIRE_FALSE(lie.features.has_value());
  CHECK(lie.features.error().fault == PluginFault::undeclared);
  // A plugin that cannot say what it declares is believed: those of 0.0.x need not.
  CHECK(declared("speed", "").features.has_value());
  CHECK_FALSE(declared("", "speed").features.has_value());
}

TEST_CASE("a program names its namespace itself") {
  if (testing::skip_python()) return;
  const testing::ScratchFolder folder;
  AskOptions options;
  options.limits.time = 60s;
  CHECK(ask_namespace(folder.executable(testing::answer), options) == "acme");
  CHECK_FALSE(ask_namespace(folder.executable("print('{}')"), options).has_value());
  CHECK_FALSE(ask_namespace(folder.executable("os.abort()"), options).has_value());
}

TEST_CASE("a plugin that differs between two runs is asked no further") {
  if (testing::skip_python()) return;
  const testing::ScratchFolder folder;
  const Plugin plugin = folder.executable(
      "value = 'all' if sys.argv[1] == 'all' else 'v%d' % os.getpid()\n"
      "print(json.dumps({'namespace': 'acme', 'features': [{'name': 'f', 'multi_value': True, "
      "'values': [value]}]}))");
  axle::CollectedReport report;
  const PluginTrial trial = try_plugin(plugin, {.runs = 50}, report);
  CHECK(trial.differing_run == 2);
  CHECK(trial.times.size() == 2);
}

#include <chrono>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "providers/plugins/plugin.h"
#include "tests/plugins/scratch_folder.h"

using namespace axle::plugins;
using axle::providers::Feature;
using axle::providers::Features;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view config = R"(
class Config:
    def __init__(self, name, values, multi_value=True):
        self.name, self.values, self.multi_value = name, values, multi_value
)";

const Features fast_and_slow = {{"speed", true, {"fast", "slow"}}};

bool skip_python() {
  const std::string missing = testing::python_missing();
  if (!missing.empty()) MESSAGE("skipped: " << missing);
  return !missing.empty();
}

PluginAnswer ask(std::string_view module, std::string_view api, Query query = Query::supported) {
  const testing::ScratchFolder folder;
  AskOptions options;
  options.limits.time = 60s;
  return ask_plugin(folder.python(std::string(config) + std::string(module), api), query, options);
}

std::string trouble_of(const PluginAnswer& answer) {
  return answer.features ? answer.printed : answer.features.error().message + answer.printed;
}

void check_features(const PluginAnswer& answer, const Features& expected) {
  REQUIRE_MESSAGE(answer.features.has_value(), trouble_of(answer));
  CHECK(*answer.features == expected);
}

void check_fault(const PluginAnswer& answer, PluginFault fault, std::string_view word) {
  REQUIRE_FALSE(answer.features.has_value());
  const PluginFailure& failure = answer.features.error();
  CHECK_MESSAGE(failure.fault == fault, render_fault(failure.fault), ": ", failure.message);
  CHECK_MESSAGE(failure.message.find(word) != std::string::npos, failure.message);
}

}  // namespace

TEST_CASE("both generations of the API are asked") {
  if (skip_python()) return;
  constexpr std::string_view modules = R"(
def get_supported_configs(): return [Config("speed", ["fast", "slow"])]
def get_all_configs(): return [Config("speed", ["fastest", "fast", "slow"])]

class Static:  # 0.2: never instantiated
    def __init__(self): raise AssertionError("instantiated")
    @staticmethod
    def get_supported_configs(): return [Config("speed", ["fast", "slow"])]

class ByClass:
    @classmethod
    def get_supported_configs(cls): return [Config("speed", ("fast", "slow"))]

class Old:
    namespace = "acme"
    def __init__(self): self.made = True
    def get_supported_configs(self, known_properties):
        assert self.made and known_properties is None
        return [Config("speed", ["fast", "slow"])]

class OldProperty:
    @property
    def namespace(self): return "acme"
    def get_supported_configs(self): return [Config("speed", ["fast", "slow"])]
    def get_all_configs(self): return [Config("speed", ["fastest"])]

class Single:
    def __init__(self, name, values): self.name, self.values = name, values
class OldSingle:
    namespace = "acme"
    def get_supported_configs(self, known_properties): return [Single("speed", ["fast"])]
instance = OldSingle()

class Holder:
    class Inner:
        plugin = ByClass

def factory(): raise AssertionError("called")
factory.get_supported_configs = get_supported_configs
)";
  for (const char* api : {"acme", "acme:Static", "acme:ByClass", "acme:Old", "acme:OldProperty",
                          "acme:Holder.Inner.plugin", "acme:factory", "acme : Old"}) {
    CAPTURE(api);
    check_features(ask(modules, api), fast_and_slow);
  }
  check_features(ask(modules, "acme", Query::all), {{"speed", true, {"fastest", "fast", "slow"}}});
  check_features(ask(modules, "acme:OldProperty", Query::all), {{"speed", true, {"fastest"}}});
  // 0.0.x: values of one feature exclude each other where nothing is said.
  check_features(ask(modules, "acme:OldSingle"), {{"speed", false, {"fast"}}});
  check_features(ask(modules, "acme:instance"), {{"speed", false, {"fast"}}});
  check_features(ask("namespace = 'other'\ndef get_supported_configs(): return []", "acme"), {});
  check_fault(ask(modules, "acme:Old", Query::all), PluginFault::no_object, "get_all_configs");
}

TEST_CASE("a plugin-api that leads nowhere is told from code that fails") {
  if (skip_python()) return;
  check_fault(ask("", "absent"), PluginFault::no_object, "no module absent");
  check_fault(ask("", "acme.inner"), PluginFault::no_object, "acme.inner");
  check_fault(ask("", "acme:absent"), PluginFault::no_object, "no absent");
  check_fault(ask("", "acme"), PluginFault::no_object, "get_supported_configs");
  check_fault(ask("import absent_dependency", "acme"), PluginFault::raised, "absent_dependency");
  check_fault(ask("def f(:", "acme"), PluginFault::raised, "SyntaxError");
  check_fault(ask("def get_supported_configs(): return 1 / 0", "acme"), PluginFault::raised,
              "ZeroDivisionError");
  check_fault(ask("import sys\ndef get_supported_configs(): sys.exit(3)", "acme"),
              PluginFault::raised, "sys.exit(3)");
  check_fault(ask("import os\nos._exit(0)", "acme"), PluginFault::exited, "without an answer");
  check_fault(ask("import ctypes\nctypes.string_at(0)", "acme"), PluginFault::crashed, "SIGSEGV");
  check_fault(ask("def get_supported_configs(): return get_supported_configs()", "acme"),
              PluginFault::raised, "RecursionError");
  check_fault(ask("x = bytearray(4 << 30)", "acme"), PluginFault::raised, "MemoryError");
}

TEST_CASE("what is returned must be lists of configs") {
  if (skip_python()) return;
  const auto gives = [](std::string_view value) {
    return ask(fmt::format("import itertools\ndef get_supported_configs(): return {}", value),
               "acme");
  };
  check_features(gives("[]"), {});
  for (const char* value :
       {"None", "{}", "'speed'", "itertools.count()", "[1]", "[Config('speed', 'fast')]",
        "[Config('speed', [])]", "[Config('speed', [1])]", "[Config('speed', ['FAST'])]",
        "[Config('Speed', ['fast'])]", "[Config(7, ['fast'])]", "[Config('speed', ['a', 'a'])]",
        "[Config('speed', ['a']), Config('speed', ['b'])]", "[Config('speed', ['a'], 1)]",
        "[Config('speed', ['x' * 100000])]", "[Config('speed', ['a'] * 5000)]",
        "[Config('f%d' % i, ['a']) for i in range(1000)]"}) {
    CAPTURE(value);
    check_fault(gives(value), PluginFault::malformed, "");
  }
  check_fault(gives("[Config('f%d' % i, ['%0128d' % v for v in range(4000)]) for i in range(500)]"),
              PluginFault::flooded, "output was too long");
}

TEST_CASE("a plugin of the older API that names another namespace lies") {
  if (skip_python()) return;
  check_fault(
      ask("class Old:\n    namespace = 'nvidia'\n    def get_supported_configs(self): return []",
          "acme:Old"),
      PluginFault::wrong_namespace, "nvidia");
  check_fault(ask("class Old:\n    namespace = 'nvidia'\n    def get_supported_configs(self): "
                  "return []\nold = Old()",
                  "acme:old"),
              PluginFault::wrong_namespace, "nvidia");
}

TEST_CASE("what a plugin prints is kept apart from what it answers") {
  if (skip_python()) return;
  const PluginAnswer answer =
      ask("import atexit, os, threading, time\nprint('{\"namespace\": "
          "\"nvidia\"}')\nos.system('true')\n"
          "atexit.register(lambda: time.sleep(600))\n"
          "threading.Thread(target=time.sleep, args=(600,)).start()\n"
          "def get_supported_configs():\n    print('\\x1b[31mhello')\n"
          "    return [Config('speed', ['fast', 'slow'])]",
          "acme");
  check_features(answer, fast_and_slow);
  CHECK(answer.printed.find("?[31mhello") != std::string::npos);
}

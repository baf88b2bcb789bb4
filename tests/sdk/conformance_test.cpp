// The checks of `variant providers check`, each with what it must say;
// tests/e2e/plugins/provider_sdk_test.py tries them on real plugins.
#include "providers/plugins/conformance.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>

namespace {

using namespace std::chrono_literals;
using axle::plugins::CheckResult;
using axle::plugins::difference_between;
using axle::plugins::Grade;
using axle::plugins::Plugin;
using axle::plugins::PluginAnswer;
using axle::plugins::PluginFailure;
using axle::plugins::PluginFault;
using axle::plugins::PluginKind;
using axle::plugins::PluginTrial;
using axle::providers::Features;

const Features here = {{"arch", true, {"b", "a"}}};
const Features known = {{"arch", true, {"c", "b", "a"}}};

Plugin plugin_called(const std::string& ns) {
  return {ns, PluginKind::shared_object, "/p.so", "/p.so"};
}

/// Of a plugin with which all is well.
PluginTrial good_trial(const Plugin& plugin) {
  PluginTrial trial;
  trial.plugin = &plugin;
  trial.supported.features = here;
  trial.all.features = known;
  trial.bare_all.features = known;
  trial.watched_supported.attempts.emplace();
  trial.watched_all.attempts.emplace();
  trial.times = {1ms, 2ms, 3ms};
  trial.peak_memory = 5 << 20;
  return trial;
}

/// The row of that name, which must be there.
CheckResult row(const PluginTrial& trial, std::string_view name) {
  const auto results = judge(trial);
  const auto found = std::ranges::find(results, name, &CheckResult::name);
  REQUIRE(found != results.end());
  return *found;
}

PluginFailure failing(PluginFault fault, const char* message) { return {fault, message, "fix it"}; }

}  // namespace

TEST_CASE("a good plugin passes every check") {
  const Plugin plugin = plugin_called("acme");
  const auto results = judge(good_trial(plugin));
  CHECK(results.size() > 10);
  for (const CheckResult& result : results) {
    CAPTURE(result.name);
    CHECK(result.grade == Grade::ok);
    CHECK_FALSE(result.message.empty());
    CHECK(result.hint.empty());
  }
}

TEST_CASE("each thing that is wrong is one check's") {
  struct Row {
    const char* name;
    Grade grade;
    const char* words;
    void (*spoil)(PluginTrial& trial);
  };
  const Row rows[] = {
      {"declared", Grade::fail, "arch :: d",
       [](PluginTrial& e) { e.supported.features->front().values = {"d"}; }},
      {"declared", Grade::fail, "feature x",
       [](PluginTrial& e) { e.supported.features->front().name = "x"; }},
      {"declared", Grade::fail, "multi-valued",
       [](PluginTrial& e) { e.supported.features->front().multi_value = false; }},
      {"properties", Grade::fail, "`all` is empty",
       [](PluginTrial& e) { e.all.features->clear(); }},
      {"stable", Grade::fail, "run 2: gone",
       [](PluginTrial& e) {
         e.differing_run = 2;
         e.difference = "gone";
       }},
      {"stable", Grade::fail, "`all` differs", [](PluginTrial& e) { e.all_difference = "new"; }},
      {"time", Grade::warn, "median 200 ms, worst 900 ms",
       [](PluginTrial& e) { e.times = {1ms, 200ms, 900ms}; }},
      {"memory", Grade::warn, "300 MiB",
       [](PluginTrial& e) { e.peak_memory = std::size_t{300} << 20; }},
      {"silence", Grade::warn, "\"hello\"",
       [](PluginTrial& e) { e.supported.printed = "hello\nworld\n"; }},
      {"threads", Grade::warn, "2 threads", [](PluginTrial& e) { e.all.notes.threads = 2; }},
      {"manners", Grade::warn, "socket, unlink /x",
       [](PluginTrial& e) {
         e.watched_supported.attempts->push_back("socket");
         e.watched_all.attempts = {"socket", "unlink /x"};
       }},
      {"manners", Grade::warn, "not monitored",
       [](PluginTrial& e) { e.watched_all.attempts.reset(); }},
      {"nothing there", Grade::warn, "it supports 2 values",
       [](PluginTrial& e) { e.bare_supported.features = here; }},
      {"nothing there", Grade::fail, "`all` depends",
       [](PluginTrial& e) { e.bare_all.features = here; }},
      {"nothing there", Grade::fail, "it crashed",
       [](PluginTrial& e) {
         e.bare_supported.features = std::unexpected(failing(PluginFault::crashed, "it crashed"));
       }},
      {"nothing there", Grade::warn, "not tested: no",
       [](PluginTrial& e) {
         e.bare_all.features = std::unexpected(failing(PluginFault::not_started, "no"));
       }},
  };
  const Plugin plugin = plugin_called("acme");
  // "interface" only says which version it is; the others are tested below.
  std::set<std::string_view> provoked = {"interface", "answers", "protocol", "namespace"};
  for (const Row& expected : rows) provoked.insert(expected.name);
  for (const CheckResult& check : judge(good_trial(plugin)))
    CHECK_MESSAGE(provoked.contains(check.name), check.name, ": add a row that provokes it");
  for (const Row& expected : rows) {
    CAPTURE(expected.name);
    CAPTURE(expected.words);
    PluginTrial trial = good_trial(plugin);
    expected.spoil(trial);
    const CheckResult result = row(trial, expected.name);
    CHECK(result.grade == expected.grade);
    CHECK(result.message.find(expected.words) != std::string::npos);
    CHECK_FALSE(result.hint.empty());
  }
}

TEST_CASE("namespaces that are taken are refused") {
  for (const char* ns : {"nvidia", "x86_64", "axle", "abi_dependency"}) {
    CAPTURE(ns);
    const Plugin plugin = plugin_called(ns);
    CHECK(row(good_trial(plugin), "namespace").grade == Grade::fail);
  }
}

TEST_CASE("a plugin without an answer is judged by that alone") {
  const Plugin plugin = plugin_called("acme");
  PluginTrial trial = good_trial(plugin);
  trial.all.features = std::unexpected(failing(PluginFault::timed_out, "it was stopped"));
  auto results = judge(trial);
  CHECK(results.size() == 2);
  CHECK(row(trial, "answers").message == "asked for `all`: it was stopped");
  CHECK(row(trial, "answers").hint == "fix it");

  trial.all.features = std::unexpected(failing(PluginFault::malformed, "no list"));
  CHECK(row(trial, "protocol").message == "no list");
  CHECK(row(trial, "protocol").grade == Grade::fail);
}

TEST_CASE("differences are told by what differs") {
  const Features one = {{"a", false, {"1", "2"}}, {"b", false, {"1"}}};
  CHECK(difference_between(one, one).empty());
  CHECK(difference_between(one, {one[0]}) == "feature b is gone");
  CHECK(difference_between({one[0]}, one) == "feature b is new");
  CHECK(difference_between(one, {one[1], one[0]}) == "feature b instead of a");
  CHECK(difference_between(one, {{"a", true, {"1", "2"}}, one[1]}) == "multi_value of a differs");
  CHECK(difference_between(one, {{"a", false, {"2", "1"}}, one[1]}) == "value 2 of a instead of 1");
  CHECK(difference_between(one, {{"a", false, {"1"}}, one[1]}) == "value 2 of a is gone");
  CHECK(difference_between(one, {{"a", false, {"1", "2", "3"}}, one[1]}) == "value 3 of a is new");
}

// Hostile shared objects (hostile_provider.c): each comes to one clear fault, the namespace is
// unsupported, and nothing else happens.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "providers/plugins/plugin.h"

namespace {

using axle::plugins::AskOptions;
using axle::plugins::Plugin;
using axle::plugins::PluginAnswer;
using axle::plugins::PluginFault;
using axle::plugins::PluginKind;
using axle::plugins::Query;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer);
#else
constexpr bool sanitized = false;
#endif

struct Row {
  const char* behaviour;
  PluginFault fault;
  const char* words;  ///< in the message
};

const Row rows[] = {
    {"crash_in_constructor", PluginFault::crashed, "SEGV"},
    {"exit_in_constructor", PluginFault::exited, "without an answer"},
    {"hang_in_constructor", PluginFault::timed_out, "stopped after"},
    {"no_entry", PluginFault::malformed, "exports no axle_provider_entry"},
    {"crash_in_entry", PluginFault::crashed, "SEGV"},
    {"null_table", PluginFault::malformed, "returned NULL"},
    {"newer_abi", PluginFault::malformed,
     "implements version 2 of the provider interface, but this program implements 1"},
    {"abi_zero", PluginFault::malformed, "implements version 0"},
    {"small_table", PluginFault::malformed, "claims 8 bytes"},
    {"negative_size", PluginFault::malformed, "claims 4294967295 bytes"},
    {"null_query", PluginFault::malformed, "no `supported`"},
    {"null_namespace", PluginFault::malformed, "namespace is NULL"},
    {"endless_namespace", PluginFault::malformed, "longer than 128 bytes"},
    {"another_namespace", PluginFault::wrong_namespace, "nvidia"},
    {"namespace_not_utf8", PluginFault::malformed, "is not a valid namespace"},
    {"null_version", PluginFault::malformed, "version is NULL"},
    {"crash_in_query", PluginFault::crashed, "SEGV"},
    {"abort_in_query", PluginFault::crashed, "ABRT"},
    {"exit_in_query", PluginFault::exited, "without an answer"},
    {"hang_in_query", PluginFault::timed_out, "stopped after"},
    {"null_feature", PluginFault::malformed, "feature() got a name that is NULL"},
    {"null_value", PluginFault::malformed, "value() got a text that is NULL"},
    {"value_before_feature", PluginFault::malformed, "before any feature()"},
    {"negative_kind", PluginFault::malformed, "the unknown kind -1"},
    {"gigantic_value", PluginFault::malformed, "longer than 128 bytes"},
    {"endless_value", PluginFault::malformed, "longer than 128 bytes"},
    {"endless_reason", PluginFault::malformed, "longer than 512 bytes"},
    {"capital_feature", PluginFault::malformed, "Said"},
    {"value_with_newline", PluginFault::malformed, "is not a valid value of said"},
    {"value_not_utf8", PluginFault::malformed, "is not a valid value of said"},
    {"empty_value", PluginFault::malformed, "is not a valid value of said"},
    {"value_twice", PluginFault::malformed, "duplicate"},
    {"feature_twice", PluginFault::malformed, "duplicate"},
    {"feature_without_values", PluginFault::malformed, "0 values"},
    {"too_many_features", PluginFault::malformed, "more than 256 features"},
    {"too_many_values", PluginFault::malformed, "more than 4096 values"},
    {"values_without_end", PluginFault::timed_out, "stopped after"},
    {"failed_with_a_reason", PluginFault::raised, "driver 1.2 is older than 2.0"},
    {"floods", PluginFault::flooded, "output was too long"},
    {"talks_on_a_thread", PluginFault::malformed, "thread other than"},
    {"writes_into_the_pipe", PluginFault::malformed, "not usable JSON"},
    {"closes_everything", PluginFault::exited, ""},
    {"starts_a_program", PluginFault::raised, "returned 1"},
    {"forks", PluginFault::raised, "returned 1"},
    {"takes_all_memory", PluginFault::crashed, "ABRT"},
    {"bends_the_sink", PluginFault::crashed, "SEGV"},
};

/// What is strange, but harms nobody: it is answered.
const char* const harmless[] = {"nothing_wrong",     "prints",
                                "larger_table",      "looks_at_devices",
                                "looks_for_secrets", "thread_outlives_the_query"};

Plugin plugin_with(const std::string& behaviour) {
  return {"hostile", PluginKind::shared_object, "hostile",
          std::string(AXLE_HOSTILE_PROVIDERS) + "/" + behaviour + ".so"};
}

PluginAnswer ask(const std::string& behaviour, Query query = Query::supported,
                 std::chrono::milliseconds time = std::chrono::seconds(20)) {
  AskOptions options;
  options.limits.time = time;
  return ask_plugin(plugin_with(behaviour), query, options);
}

/// Those that hang are given little time, the others a lot: nothing here depends on how fast it is.
std::chrono::milliseconds time_for(const Row& row) {
  using namespace std::chrono_literals;
  return row.fault == PluginFault::timed_out ? 300ms : 60'000ms;
}

}  // namespace

TEST_CASE("each hostile shared object is one clear fault") {
  for (const Row& row : rows) {
    const std::string_view behaviour = row.behaviour;
    if (sanitized && (behaviour == "takes_all_memory" || behaviour == "bends_the_sink")) {
      MESSAGE(behaviour, ": left out, a sanitizer limits no memory and answers wild writes itself");
      continue;
    }
    CAPTURE(row.behaviour);
    const PluginAnswer answer = ask(row.behaviour, Query::supported, time_for(row));
    REQUIRE_FALSE(answer.features.has_value());
    CAPTURE(answer.features.error().message);
    CHECK(render_fault(answer.features.error().fault) == render_fault(row.fault));
    CHECK(answer.features.error().message.find(row.words) != std::string::npos);
    CHECK(answer.features.error().message.find('\n') == std::string::npos);
    CHECK_FALSE(answer.features.error().hint.empty());
  }
}

TEST_CASE("what harms nobody is answered") {
  const axle::providers::Features expected = {{"said", false, {"1"}}};
  // Put together here, so that it stands in no program file.
  std::string secret = "terces s'resu eht";
  std::ranges::reverse(secret);
  REQUIRE(::setenv("AXLE_TEST_SECRET", secret.c_str(), 1) == 0);
  for (const char* behaviour : harmless) {
    CAPTURE(behaviour);
    const PluginAnswer answer = ask(behaviour);
    REQUIRE_MESSAGE(answer.features.has_value(), answer.features.error().message);
    CHECK(*answer.features == expected);
  }
  const PluginAnswer nothing = ask("nothing_here");
  REQUIRE(nothing.features.has_value());
  CHECK(nothing.features->empty());
}

TEST_CASE("what a provider prints is kept apart") {
  const PluginAnswer answer = ask("prints");
  CHECK(answer.printed.find("hello from the driver") != std::string::npos);
  CHECK(answer.printed.find("and an error") != std::string::npos);
}

TEST_CASE("a thread that goes on talking changes nothing that was said") {
  // It may be noticed before the answer is sealed or not: both are well.
  const PluginAnswer answer = ask("thread_talks_after_the_query");
  if (answer.features) {
    CHECK(answer.features->size() == 1);
    CHECK(answer.features->front().name == "said");
  } else {
    CHECK(answer.features.error().message.find("thread other than") != std::string::npos);
  }
}

TEST_CASE("on a bare machine there is no device, and the program's own machine stays as it is") {
  const Plugin plugin = plugin_with("looks_at_devices");
  AskOptions options;
  options.bare_machine = true;
  const PluginAnswer bare = ask_plugin(plugin, Query::supported, options);
  if (!bare.features && bare.features.error().fault == PluginFault::not_started) {
    MESSAGE("skipped: " << bare.features.error().message);
    return;
  }
  REQUIRE_MESSAGE(bare.features.has_value(), bare.features.error().message);
  CHECK(bare.features->empty());
  CHECK(ask("looks_at_devices").features->size() == 1);
}

TEST_CASE("what a provider is denied is told when it is watched, and denied all the same") {
  AskOptions options;
  options.watched = true;
  const PluginAnswer good = ask_plugin(plugin_with("nothing_wrong"), Query::supported, options);
  if (!good.attempts) {
    MESSAGE("skipped: this kernel does not tell what it denies");
    return;
  }
  CHECK(good.attempts->empty());
  CHECK(good.features.has_value());
  for (const char* behaviour : {"forks", "starts_a_program"}) {
    CAPTURE(behaviour);
    const PluginAnswer answer = ask_plugin(plugin_with(behaviour), Query::supported, options);
    REQUIRE(answer.attempts.has_value());
    CHECK_FALSE(answer.attempts->empty());
    REQUIRE_FALSE(answer.features.has_value());
    CHECK(answer.features.error().fault == PluginFault::raised);
  }
  CHECK_FALSE(ask("nothing_wrong").attempts.has_value());
}

TEST_CASE("a watched provider that hangs or crashes ends as it would unwatched") {
  AskOptions options;
  options.watched = true;
  options.limits.time = std::chrono::milliseconds(300);
  const PluginAnswer hung = ask_plugin(plugin_with("hang_in_query"), Query::supported, options);
  REQUIRE_FALSE(hung.features.has_value());
  CHECK(hung.features.error().fault == PluginFault::timed_out);
  options.limits.time = std::chrono::minutes(1);
  const PluginAnswer crashed = ask_plugin(plugin_with("crash_in_query"), Query::supported, options);
  REQUIRE_FALSE(crashed.features.has_value());
  CHECK(crashed.features.error().fault == PluginFault::crashed);
}

TEST_CASE("a shared object is asked for its namespace through what looks at no hardware") {
  // Its other query crashes.
  CHECK(ask_namespace(plugin_with("crash_in_query"), {}).value_or("") == "hostile");
  CHECK_FALSE(ask_namespace(plugin_with("no_entry"), {}).has_value());
}

TEST_CASE("a file that is not a shared object says what the loader says") {
  const Plugin plugin{"hostile", PluginKind::shared_object, "hostile",
                      AXLE_SOURCE_DIR "/tests/sdk/hostile_provider.c"};
  const PluginAnswer answer = ask_plugin(plugin, Query::supported);
  REQUIRE_FALSE(answer.features.has_value());
  CHECK(answer.features.error().message.find("it cannot be loaded") != std::string::npos);
}

TEST_CASE("every behaviour has a row") {
  std::set<std::string> known = {"nothing_here", "thread_talks_after_the_query"};
  for (const Row& row : rows) known.insert(row.behaviour);
  known.insert(std::begin(harmless), std::end(harmless));
  std::istringstream behaviours(AXLE_HOSTILE_BEHAVIOURS);
  for (std::string behaviour; behaviours >> behaviour;) {
    CAPTURE(behaviour);
    CHECK(known.contains(behaviour));
  }
}

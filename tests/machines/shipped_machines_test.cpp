// Every shipped machine, read by today's detection and asked by today's providers, against what its
// documents say: tests/machines/expected/<id>.json, which machines/profiles/generator derives from
// its tables by rules of its own; of the few that state facts it is written by hand. Of a machine
// that was recorded, AXLE_UPDATE_GOLDEN=1 writes what detection says; derivation_test.py derives
// the same from the recorded bits by its own rules.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "machines/profile.h"
#include "machines/selection.h"
#include "machines/shipped_profiles.h"
#include "providers/provider.h"

namespace axle::machines {
namespace {

namespace fs = std::filesystem;
using detect::Capability;
using detect::Machine;
using detect::Presence;
using Json = nlohmann::ordered_json;

const fs::path expected_folder = fs::path(AXLE_SOURCE_DIR) / "tests/machines/expected";

Json read_expected(const fs::path& file) {
  std::ifstream stream(file);
  return Json::parse(stream);
}

const ShippedProfile* find_shipped(const std::string& name) {
  const auto all = shipped_profiles();
  const auto found = std::ranges::find(all, name, &ShippedProfile::name);
  return found == all.end() ? nullptr : &*found;
}

/// Every key of `expected` has that value in `actual`; a null is also what is missing.
void check_within(const Json& expected, const Json& actual) {
  for (const auto& [key, value] : expected.items()) {
    CAPTURE(key);
    const Json found = actual.contains(key) ? actual[key] : Json();
    CHECK(found == value);
  }
}

/// Every row of the processor's architecture; flags that no row stands for are the documents' own.
void check_flags(const Json& flags, const Machine& machine) {
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    const Presence presence = machine.cpu.capabilities.of(row.id);
    CAPTURE(row.name);
    if (row.arch != machine.cpu.arch) {
      CHECK(presence == Presence::unknown);
      continue;
    }
    const std::string name(row.name);
    REQUIRE_MESSAGE(flags.contains(name), name,
                    ": run machines/profiles/generator/make_profiles.py, then AXLE_UPDATE_GOLDEN=1 "
                    "build/release/bin/profiles_test");
    CHECK(detect::render_presence(presence) == flags[name].get<std::string>());
  }
}

/// Where facts are stated and none of the processor, its base level is all that is known.
void check_unstated(const Machine& machine) {
  const auto base = detect::x86_64_level(1);
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    CAPTURE(row.name);
    const bool known = std::ranges::find(base, row.id) != base.end();
    CHECK(machine.cpu.capabilities.of(row.id) == (known ? Presence::present : Presence::unknown));
  }
}

void check_machine(const Json& expected, const Machine& machine) {
  const Json facts = Json::parse(render_machine_json(machine));
  Json cpu = expected["cpu"];
  if (cpu.contains("flags")) {
    check_flags(cpu["flags"], machine);
  } else {
    check_unstated(machine);
  }
  cpu.erase("flags");
  check_within(cpu, facts["cpu"]);
  check_within(expected["os"], facts["os"]);
  check_within(expected["libc"], facts["libc"]);
  CHECK(facts["mps"].is_null() == !expected.contains("mps"));
  if (expected.contains("mps")) check_within(expected["mps"], facts["mps"]);
  REQUIRE(facts["gpus"].size() == expected["gpus"].size());
  for (std::size_t i = 0; i < expected["gpus"].size(); ++i) {
    CAPTURE(i);
    check_within(expected["gpus"][i], facts["gpus"][i]);
  }
  REQUIRE(facts["npus"].size() == expected["npus"].size());
  for (std::size_t i = 0; i < expected["npus"].size(); ++i) {
    check_within(expected["npus"][i], facts["npus"][i]);
  }
  CHECK(facts["drivers"].size() == expected["drivers"].size());
  for (const auto& [vendor, driver] : expected["drivers"].items()) {
    CAPTURE(vendor);
    REQUIRE(facts["drivers"].contains(vendor));
    check_within(driver, facts["drivers"][vendor]);
  }
  std::vector<std::string> problems;
  for (const detect::Problem& problem : machine.problems) problems.push_back(problem.code);
  std::ranges::sort(problems);
  CHECK(Json(problems) == expected["problems"]);
}

Json supported(const providers::Provider& provider, const Machine& machine) {
  Json features = Json::object();
  for (const providers::Feature& feature : provider.supported(machine, {})) {
    features[feature.name] = feature.values;
  }
  return features;
}

/// Or of the system: not of GPUs, whose published namespaces say the same.
bool speaks_of_cpu(const std::string& feature) {
  if (feature == "mps") return true;
  for (const char* prefix : {"arm_version", "avx10_", "sve_", "sme_"}) {
    if (feature.starts_with(prefix)) return true;
  }
  return detect::find_capability(feature).has_value();
}

constexpr std::string_view judged_namespaces[] = {"nvidia",  "amd",    "intel", "x86_64",
                                                  "aarch64", "ascend", "tpu"};

/// Whole lists in their order for the published namespaces; of ours, all that is of the processor.
void check_properties(const Json& expected, const Machine& machine) {
  for (const std::string_view ns : judged_namespaces) {
    CAPTURE(ns);
    Json wanted = expected.contains(ns) ? expected[ns] : Json::object();
    // This namespace also says that there is none.
    if (ns == "tpu" && wanted.empty()) wanted["present"] = {"false"};
    CHECK(supported(*providers::find_provider(ns), machine).dump() == wanted.dump());
  }
  nlohmann::json ours = nlohmann::json::object();
  const Json all = supported(*providers::find_provider("axle"), machine);
  for (const auto& [name, values] : all.items()) {
    if (speaks_of_cpu(name)) ours[name] = values;
  }
  CHECK(ours == nlohmann::json(expected.value("axle", Json::object())));
}

bool is_captured(std::string_view name) { return name.starts_with("captured-"); }

/// Without what is not known, and where each fact comes from.
Json facts_alone(const Json& facts) {
  if (!facts.is_object()) return facts;
  Json known = Json::object();
  for (const auto& [key, value] : facts.items()) {
    if (key != "sources" && !value.is_null()) known[key] = facts_alone(value);
  }
  return known;
}

/// `flags`: of the machine's file; those that are no capability stay.
Json expected_cpu(const Json& facts, Json flags, const Machine& machine) {
  Json cpu = facts_alone(facts);
  cpu.erase("capabilities");
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch != machine.cpu.arch) continue;
    flags[std::string(row.name)] = detect::render_presence(machine.cpu.capabilities.of(row.id));
  }
  cpu["flags"] = nlohmann::json(flags);  // by name
  return cpu;
}

Json expected_properties(const Machine& machine) {
  Json properties = Json::object();
  for (const std::string_view ns : judged_namespaces) {
    Json features = supported(*providers::find_provider(ns), machine);
    const bool no_tpu = ns == "tpu" && features.value("present", Json()) == Json({"false"});
    if (!features.empty() && !no_tpu) properties[std::string(ns)] = std::move(features);
  }
  const Json ours = supported(*providers::find_provider("axle"), machine);
  for (const auto& [name, values] : ours.items()) {
    if (speaks_of_cpu(name)) properties["axle"][name] = values;
  }
  return properties;
}

/// What is expected of a captured machine: `before` is its file, or an empty object.
Json expected_of(const Machine& machine, const Json& before) {
  const Json facts = Json::parse(render_machine_json(machine));
  Json expected = Json::object();
  for (const char* key : {"os", "libc", "drivers"}) expected[key] = facts_alone(facts[key]);
  for (const char* key : {"gpus", "npus"}) {
    expected[key] = Json::array();
    for (const Json& device : facts[key]) expected[key].push_back(facts_alone(device));
  }
  std::vector<std::string> problems;
  for (const detect::Problem& problem : machine.problems) problems.push_back(problem.code);
  std::ranges::sort(problems);
  expected["problems"] = problems;
  const Json flags = before.contains("cpu") ? before["cpu"]["flags"] : Json::object();
  expected["cpu"] = expected_cpu(facts["cpu"], flags, machine);
  expected["properties"] = expected_properties(machine);
  return expected;
}

Machine machine_called(const std::string& name) {
  CollectedReport report;
  const auto selected = select_machines(name, report);
  REQUIRE(selected.has_value());
  return selected->front().machine;
}

void write_expected(const std::string& name, const fs::path& file) {
  const Json before = fs::exists(file) ? read_expected(file) : Json::object();
  const std::string text = expected_of(machine_called(name), before).dump(2);
  std::ofstream(file) << text << '\n';
}

}  // namespace

TEST_CASE("every shipped machine has an expected file, and every such file a machine") {
  std::size_t recordings = 0;
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const auto profile = parse_profile(shipped.json, shipped.name);
    REQUIRE_MESSAGE(profile.has_value(), profile.error().message);
    if (profile->recording) ++recordings;
    const std::string name(shipped.name);
    const fs::path file = expected_folder / (name + ".json");
    const bool captured = is_captured(name);
    if (captured && std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) write_expected(name, file);
    CHECK_MESSAGE(fs::exists(file), name, ": ",
                  captured ? std::string("run AXLE_UPDATE_GOLDEN=1 build/release/bin/profiles_test")
                           : "run machines/profiles/generator/make_profiles.py");
  }
  CHECK(recordings >= 56);
  for (const auto& entry : fs::directory_iterator(expected_folder)) {
    const std::string name = entry.path().stem();
    CHECK_MESSAGE(find_shipped(name) != nullptr, name);
  }
}

TEST_CASE(
    "what detection and the providers make of every shipped machine is what its documents say") {
  for (const auto& entry : fs::directory_iterator(expected_folder)) {
    const std::string name = entry.path().stem();
    CAPTURE(name);
    const ShippedProfile* shipped = find_shipped(name);
    REQUIRE(shipped != nullptr);
    const Machine machine = machine_called(name);
    const Json expected = read_expected(entry.path());
    check_machine(expected, machine);
    check_properties(expected["properties"], machine);
  }
}

}  // namespace axle::machines

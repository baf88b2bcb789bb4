// What must hold for every provider on every machine, checked on random ones.

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>

#include <doctest/doctest.h>

#include "detect/gpu_vendors.h"
#include "providers/provider.h"
#include "tests/providers/machines.h"

namespace axle::providers {
namespace {

using detect::Machine;
using detect::Presence;
using testing::random_machine;

using Properties = std::set<std::tuple<std::string, std::string, std::string>>;

constexpr unsigned rounds = 400;

Properties properties_of(const Machine& machine) {
  Properties properties;
  for (const Provider& provider : builtin_providers()) {
    for (const Feature& feature : provider.supported(machine, {})) {
      for (const std::string& value : feature.values) {
        properties.emplace(provider.ns, feature.name, value);
      }
    }
  }
  return properties;
}

Properties properties_of(const Features& features) {
  Properties properties;
  for (const Feature& feature : features) {
    for (const std::string& value : feature.values) properties.emplace("", feature.name, value);
  }
  return properties;
}

bool contains_all(const Properties& larger, const Properties& smaller) {
  return std::ranges::includes(larger, smaller);
}

TEST_CASE("lists are well formed: names match PEP 825, no feature or value twice, none empty") {
  const std::regex feature_name("[a-z0-9_]+");
  const std::regex value_name("[a-z0-9_.]+");
  std::mt19937 random(1);
  for (unsigned round = 0; round < rounds; ++round) {
    const Machine machine = random_machine(random);
    for (const Provider& provider : builtin_providers()) {
      for (const Features& features : {provider.supported(machine, {}), provider.all()}) {
        std::set<std::string> seen;
        for (const Feature& feature : features) {
          REQUIRE(seen.insert(feature.name).second);
          REQUIRE_FALSE(feature.values.empty());
          const std::set<std::string> unique(feature.values.begin(), feature.values.end());
          REQUIRE(unique.size() == feature.values.size());
          if (round > 0) continue;
          CHECK(std::regex_match(feature.name, feature_name));
          for (const std::string& value : feature.values) {
            CHECK(std::regex_match(value, value_name));
          }
        }
      }
    }
  }
}

TEST_CASE("an additional capability never removes a property") {
  std::mt19937 random(2);
  for (unsigned round = 0; round < rounds; ++round) {
    Machine machine = random_machine(random);
    const Properties before = properties_of(machine);
    const auto& row = detect::capabilities()[random() % detect::capability_count];
    machine.cpu.capabilities.set(row.id, Presence::present);
    REQUIRE(contains_all(properties_of(machine), before));
  }
}

TEST_CASE("operating system state taken away never adds a property") {
  std::mt19937 random(3);
  for (unsigned round = 0; round < rounds; ++round) {
    Machine machine = random_machine(random);
    const Properties before = properties_of(machine);
    const auto state = static_cast<detect::OsState>(1 + random() % 6);
    for (const detect::CapabilityRow& row : detect::capabilities()) {
      if (row.os_state == state && machine.cpu.capabilities.has(row.id)) {
        machine.cpu.capabilities.set(row.id, Presence::blocked);
      }
    }
    REQUIRE(contains_all(before, properties_of(machine)));
  }
}

TEST_CASE("the order of the devices never matters") {
  std::mt19937 random(4);
  for (unsigned round = 0; round < rounds; ++round) {
    Machine machine = random_machine(random);
    std::vector<Features> before;
    for (const Provider& provider : builtin_providers()) {
      before.push_back(provider.supported(machine, {}));
    }
    std::ranges::shuffle(machine.gpus, random);
    std::ranges::shuffle(machine.drivers, random);
    std::ranges::shuffle(machine.npus, random);
    std::size_t index = 0;
    for (const Provider& provider : builtin_providers()) {
      REQUIRE(provider.supported(machine, {}) == before[index++]);
    }
  }
}

TEST_CASE("unknown never counts as present: a machine of which nothing is known has no property") {
  Machine machine;
  for (const detect::Arch arch :
       {detect::Arch::other, detect::Arch::x86_64, detect::Arch::aarch64}) {
    machine.cpu.arch = arch;
    for (const Provider& provider : builtin_providers()) {
      // Those that speak of wheels alone say the same everywhere.
      CHECK_MESSAGE(provider.supported(machine, {}).empty() != provider.every_value_fits,
                    provider.ns);
    }
  }
}

TEST_CASE("what a machine supports is in the list of all values, or its feature is open") {
  std::mt19937 random(6);
  std::set<std::string> unlisted;
  for (unsigned round = 0; round < rounds; ++round) {
    const Machine machine = random_machine(random);
    for (const Provider& provider : builtin_providers()) {
      const Features all = provider.all();
      for (const Feature& feature : provider.supported(machine, {GpuRule::any, {}})) {
        // As published, ROCm's version is whatever was found.
        if (feature.name == "rocm_version" ||
            std::ranges::find(provider.open_features, feature.name) !=
                provider.open_features.end()) {
          continue;
        }
        const auto known = std::ranges::find(all, feature.name, &Feature::name);
        REQUIRE_MESSAGE(known != all.end(), feature.name);
        CHECK(known->multi_value == feature.multi_value);
        for (const std::string& value : feature.values) {
          if (std::ranges::find(known->values, value) == known->values.end())
            unlisted.insert(std::string(provider.ns) + " " + value);
        }
      }
    }
  }
  // A device and a driver that are newer than the published tables.
  CHECK(unlisted == std::set<std::string>{"intel 77.1.2", "nvidia 16", "nvidia 16.0"});
}

TEST_CASE("what all GPUs run is part of what the newest runs, and that of what any of them runs") {
  std::mt19937 random(7);
  for (unsigned round = 0; round < rounds; ++round) {
    const Machine machine = random_machine(random);
    for (const Provider& provider : builtin_providers()) {
      const Properties all = properties_of(provider.supported(machine, {}));
      const Properties any = properties_of(provider.supported(machine, {GpuRule::any, {}}));
      REQUIRE(contains_all(any, all));
      for (const Machine& view : device_views(machine, {})) {
        const Properties one = properties_of(provider.supported(view, {}));
        REQUIRE(contains_all(one, all));
        REQUIRE(contains_all(any, one));
      }
    }
  }
}

TEST_CASE("every property, held or not, has facts with a sentence of one line") {
  std::mt19937 random(5);
  std::set<std::string_view> told;
  for (unsigned round = 0; round < 20; ++round) {
    const Machine machine = random_machine(random);
    for (const Provider& provider : builtin_providers()) {
      for (const Feature& feature : provider.all()) {
        for (const std::string& value : feature.values) {
          const Facts facts = provider.facts(machine, {}, feature.name, value);
          REQUIRE_FALSE(facts.empty());
          REQUIRE_FALSE(fact_rows()[static_cast<std::size_t>(facts.front().code)].circumstance);
          REQUIRE(facts.front().code != FactCode::unknown_property);
          for (const Fact& fact : facts) told.insert(render_code(fact.code));
          const std::string sentence = render_facts(facts);
          REQUIRE_FALSE(sentence.empty());
          REQUIRE(sentence.find_first_of("\n{}[]") == std::string::npos);
        }
      }
      for (const auto& [feature, value] : {std::pair("", ""), {"nonsense", "90_"}}) {
        const Facts facts = provider.facts(machine, {}, feature, value);
        REQUIRE(facts.size() == 1);
        REQUIRE(facts.front().code == FactCode::unknown_property);
      }
    }
  }
  CHECK(told.size() > 25);
}

TEST_CASE("a missing GPU has a code of its own, in every namespace about its vendor") {
  Machine machine;
  machine.cpu.arch = detect::Arch::x86_64;
  machine.os.system = "Linux";
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    const Facts absent{{FactCode::no_gpu, std::string(vendor.title) + " GPU"}};
    CHECK(find_provider("axle")->facts(machine, {}, "gpu", vendor.word) == absent);
    const Provider* provider = find_provider(vendor.word);
    REQUIRE(provider != nullptr);
    for (const Feature& feature : provider->all()) {
      INFO(vendor.word << " :: " << feature.name);
      CHECK(provider->facts(machine, {}, feature.name, feature.values.front()) == absent);
    }
  }
  CHECK(find_provider("ascend")->facts(machine, {}, "npu_type", "910b") ==
        Facts{{FactCode::no_npu, "Ascend NPU"}});
  CHECK(find_provider("tpu")->facts(machine, {}, "present", "true") ==
        Facts{{FactCode::no_npu, "TPU"}});
}

TEST_CASE("a GPU that is there and does not work is not absent hardware") {
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    Machine machine;
    detect::Gpu& gpu = machine.gpus.emplace_back();
    gpu.vendor = vendor.vendor;
    const auto code = [&] {
      return find_provider("axle")->facts(machine, {}, "gpu", vendor.word).front().code;
    };
    gpu.usable = Presence::blocked;
    gpu.reason_code = "no-device-nodes";
    CHECK(code() == FactCode::device_unusable);
    CHECK(find_provider("axle")->facts(machine, {}, "gpu", vendor.word).front().source ==
          "no-device-nodes");
    gpu.usable = Presence::unknown;
    CHECK(code() == FactCode::device_unknown);
    gpu.usable = Presence::present;
    CHECK(code() == FactCode::device_works);
    gpu.masked = true;
    CHECK(code() == FactCode::gpu_masked);
  }
}

TEST_CASE("names, versions and plugin strings are the ones that uv looks for") {
  std::set<std::string_view> checked;
  const auto check = [&](std::string_view ns, std::string_view package, std::string_view version,
                         std::string_view plugin_api) {
    checked.insert(ns);
    const Provider* provider = find_provider(ns);
    REQUIRE(provider != nullptr);
    CHECK(provider->package == package);
    CHECK(provider->version == version);
    CHECK(std::ranges::count(provider->plugin_apis, plugin_api) == 1);
  };
  check("nvidia", "nvidia-variant-provider", "0.0.1",
        "nvidia_variant_provider.plugin:NvidiaVariantPlugin");
  check("x86_64", "x86-64-variant-provider", "0.2.1", "");
  check("x86_64", "x86-64-variant-provider", "0.2.1", "x86_64_variant_provider");
  check("aarch64", "aarch64-variant-provider", "0.2.0", "");
  check("aarch64", "aarch64-variant-provider", "0.2.0", "aarch64_variant_provider");
  check("amd", "amd-variant-provider", "0.0.2", "amd_variant_provider.plugin:AMDVariantPlugin");
  check("intel", "intel-variant-provider", "0.0.3",
        "intel_variant_provider.plugin:IntelVariantPlugin");
  CHECK(std::ranges::count(find_provider("nvidia")->same_versions, "0.0.2") ==
        1);  // torch 2.9, 2.10
  check("axle", "axle-variant-provider", find_provider("axle")->version, "axle_variant_provider");
  check("tpu", "tpu-variant-provider", "0.1.0", "tpu_variant_provider.plugin:TpuVariantPlugin");
  check("ascend", "huawei-ascend-variant-provider", "0.0.2",
        "huawei_ascend_variant_provider.plugin:AscendVariantPlugin");
  CHECK(std::ranges::count(find_provider("ascend")->aliases, "ascend-variant-provider") == 1);
  check("blas_lapack", "blas-lapack-variant-provider", "0.0.3", "blas_lapack_variant_provider");
  check("openmp", "openmp-variant-provider", "0.0.2", "openmp_variant_provider");
  for (const Provider& provider : builtin_providers())
    CHECK_MESSAGE(checked.contains(provider.ns), provider.ns, ": check its names here");
  CHECK(find_provider("acme") == nullptr);
}

}  // namespace
}  // namespace axle::providers

// From recorded registers to properties, the whole way, on random CPUs: what must hold for every
// one.

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "detect/probe.h"
#include "providers/provider.h"
#include "tests/support/recorded_host.h"

namespace axle::providers {
namespace {

using axle::testing::RecordedHost;
using detect::Arch;
using detect::Capability;
using detect::CapabilityRow;

using Properties = std::set<std::string>;

constexpr unsigned rounds = 300;

Properties properties_of(RecordedHost& host) {
  const detect::Machine machine = detect::probe_machine(host, {.gpus = false});
  Properties properties;
  for (const char* ns : {"x86_64", "aarch64", "axle"}) {
    for (const Feature& feature : find_provider(ns)->supported(machine, {})) {
      for (const std::string& value : feature.values) {
        properties.insert(std::string(ns) + " :: " + feature.name + " :: " + value);
      }
    }
  }
  return properties;
}

std::vector<Capability> rows_of(Arch arch) {
  std::vector<Capability> rows;
  for (const CapabilityRow& row : detect::capabilities()) {
    if (row.arch == arch) rows.push_back(row.id);
  }
  return rows;
}

/// Mostly rich CPUs, so that levels and versions are reached.
RecordedHost random_host(std::mt19937& random, Arch arch) {
  RecordedHost host;
  host.architecture = arch;
  const unsigned poverty = 1 + random() % 40;
  for (const Capability each : rows_of(arch)) {
    if (random() % 40 >= poverty) host.give(each);
  }
  if (random() % 8 == 0) host.leaves[{0, 0}].eax = 4 + random() % 30;
  host.leaves[{7, 0}].edx &= ~(1U << 15U);
  host.xcr0_value = random() % 3 == 0 ? random() % 0x200000 : 0x1E00E7;
  if (random() % 4 != 0) host.xcomp_supported = random() % 3 == 0 ? random() : host.xcr0_value;
  if (random() % 2 == 0) host.sve_bytes = 16U << random() % 4;
  return host;
}

bool contains_all(const Properties& larger, const Properties& smaller) {
  return std::ranges::includes(larger, smaller);
}

}  // namespace

TEST_CASE("an additional bit from the CPU or its kernel never removes a property") {
  std::mt19937 random(11);
  for (const Arch arch : {Arch::x86_64, Arch::aarch64, Arch::ppc64le, Arch::riscv64, Arch::s390x}) {
    const std::vector<Capability> rows = rows_of(arch);
    std::size_t most = 0;
    for (unsigned round = 0; round < rounds; ++round) {
      RecordedHost host = random_host(random, arch);
      const Properties before = properties_of(host);
      const Capability added = rows[random() % rows.size()];
      CAPTURE(detect::row(added).name);
      host.give(added);
      REQUIRE(contains_all(properties_of(host), before));
      most = std::max(most, before.size());
    }
    CHECK(most > rows.size() / 2);  // the random CPUs were worth the trouble
  }
}

TEST_CASE("state that the operating system disables never adds a property") {
  std::mt19937 random(12);
  for (unsigned round = 0; round < rounds; ++round) {
    RecordedHost host = random_host(random, Arch::x86_64);
    const Properties before = properties_of(host);
    RecordedHost masked = host;
    masked.xcr0_value &= random();
    REQUIRE(contains_all(before, properties_of(masked)));
    masked = host;
    if (masked.xcomp_supported) *masked.xcomp_supported &= random();
    REQUIRE(contains_all(before, properties_of(masked)));
    masked.xcomp_supported = std::nullopt;
    REQUIRE(contains_all(before, properties_of(masked)));
    masked = host;
    masked.take(Capability::osxsave);
    REQUIRE(contains_all(before, properties_of(masked)));
  }
}

TEST_CASE("a poorer kind of core never adds a property") {
  std::mt19937 random(13);
  for (unsigned round = 0; round < rounds; ++round) {
    RecordedHost host = random_host(random, Arch::x86_64);
    const Properties before = properties_of(host);
    host.leaves[{7, 0}].edx |= 1U << 15U;
    host.files["/sys/devices/cpu_core/cpus"] = "0-1\n";
    host.files["/sys/devices/cpu_atom/cpus"] = "2-3\n";
    host.leaves_of_cpu[0] = host.leaves;
    host.leaves_of_cpu[2] = random_host(random, Arch::x86_64).leaves;
    REQUIRE(contains_all(before, properties_of(host)));
  }
}

TEST_CASE("the richest CPU has every property of its own architecture and none of another") {
  for (const Arch arch : {Arch::x86_64, Arch::aarch64, Arch::ppc64le, Arch::riscv64, Arch::s390x}) {
    RecordedHost host;
    host.architecture = arch;
    for (const Capability each : rows_of(arch)) host.give(each);
    host.leaves[{7, 0}].edx &= ~(1U << 15U);
    host.xcr0_value = host.xcomp_supported.emplace(~std::uint64_t{0});
    const Properties richest = properties_of(host);
    for (const CapabilityRow& row : detect::capabilities()) {
      if (row.property.empty()) continue;
      CAPTURE(row.property);
      CHECK(richest.contains(std::string(row.property)) == (row.arch == arch));
    }
  }
}

}  // namespace axle::providers

#include "detect/cpu/aarch64_versions.h"

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace axle::detect;

namespace {

CapabilityFacts facts_of(const std::vector<Capability>& capabilities) {
  CapabilityFacts facts;
  for (const Capability each : capabilities) facts.set(each, Presence::present);
  return facts;
}

bool contains(const std::vector<Capability>& all, Capability one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

TEST_CASE(
    "a version holds exactly where all that it needs is there, and with it what it builds on") {
  for (const VersionRule rule : {VersionRule::soft, VersionRule::strict}) {
    for (const Aarch64Architecture& each : aarch64_architectures()) {
      CAPTURE(each.name);
      const auto needed = aarch64_requirements(each.name, rule);
      const auto held = held_aarch64_architectures(facts_of(needed), rule);
      CHECK(std::ranges::find(held, each.name) != held.end());
      for (const std::string_view below : each.builds_on) {
        if (!below.empty()) CHECK(std::ranges::find(held, below) != held.end());
      }
      for (const Capability missing : needed) {
        CapabilityFacts less = facts_of(needed);
        less.set(missing, Presence::unknown);
        const auto rest = held_aarch64_architectures(less, rule);
        CHECK(std::ranges::find(rest, each.name) == rest.end());
      }
    }
  }
}

TEST_CASE("strict needs what soft needs, and what kernels hide") {
  using enum Capability;
  for (const Aarch64Architecture& each : aarch64_architectures()) {
    const auto strict = aarch64_requirements(each.name, VersionRule::strict);
    for (const Capability one : aarch64_requirements(each.name, VersionRule::soft)) {
      CHECK(contains(strict, one));
    }
  }
  const auto soft = aarch64_requirements("9.2a", VersionRule::soft);
  const auto strict = aarch64_requirements("9.2a", VersionRule::strict);
  for (const Capability hidden : {arm_paca, arm_pacg, arm_ssbs, arm_sb, arm_bti, arm_dit}) {
    CHECK_FALSE(contains(soft, hidden));
    CHECK(contains(strict, hidden));
  }
  CHECK(strict.size() == soft.size() + 6);
}

TEST_CASE("the two lines of versions meet where the architecture says") {
  const auto needs = [](std::string_view name, Capability one) {
    return contains(aarch64_requirements(name, VersionRule::soft), one);
  };
  CHECK(needs("9.0a", Capability::arm_frint));
  CHECK_FALSE(needs("9.0a", Capability::arm_i8mm));
  CHECK(needs("9.1a", Capability::arm_i8mm));
  CHECK_FALSE(needs("9.1a", Capability::arm_wfxt));
  CHECK(needs("9.2a", Capability::arm_wfxt));
  CHECK_FALSE(needs("8.9a", Capability::arm_sve2));
  CHECK(aarch64_requirements("10a", VersionRule::soft).empty());
  CHECK(held_aarch64_architectures({}, VersionRule::soft).empty());
}

TEST_CASE("the published chain is the architecture's, its names and its order") {
  std::string published;
  for (const Aarch64Version& each : aarch64_versions) published += std::string(each.name) + ' ';
  CHECK(published == "8a 8.1a 8.2a 8.3a 8.4a 8.5a 9.0a ");
  std::set<Capability> needed;
  for (const Aarch64Version& each : aarch64_versions) {
    needed.insert(each.adds.begin(), each.adds.end());
    for (const Capability one : aarch64_requirements(each.name, VersionRule::soft)) {
      CHECK(needed.contains(one));
    }
    const auto strict = aarch64_requirements(each.name, VersionRule::strict);
    for (const Capability one : needed) CHECK(contains(strict, one));
  }
}

// Features of a made-up family: which entry counts on which machine.
#include "doctor/feature_list.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/index/family_text.h"

namespace axle::doctor {
namespace {

detect::Machine machine_with(const std::string& arch, const std::string& cuda) {
  detect::Machine machine;
  machine.cpu.arch = detect::Arch::x86_64;
  machine.gpus.emplace_back();
  machine.gpus[0].arch = arch;
  machine.gpus[0].usable = detect::Presence::present;
  machine.drivers.emplace_back();
  machine.drivers[0].api_version = cuda;
  machine.drivers[0].usable = detect::Presence::present;
  return machine;
}

std::string entry(const std::string& keys) {
  return "\n[[features]]\nname = \"f\"\ntitle = \"F\"\nreleases = \">=2.0,<2.2\"\n"
         "source = [\"CI\"]\nconfidence = \"high\"\n" +
         keys;
}

axle::doctor::FeatureAnswer answer(const std::string& features, const detect::Machine& machine,
                                   const std::string& release = "==2.1") {
  const auto family = index::parse_family(axle::testing::small_family + features, "acme");
  REQUIRE_MESSAGE(family.has_value(), family.error().message);
  const auto* meant = axle::doctor::meant_release(*family, *wheel::parse_specifiers(release));
  REQUIRE(meant != nullptr);
  const auto answers = axle::doctor::list_features(*family, *meant, {machine}, {});
  REQUIRE(answers.size() == 1);
  return answers[0];
}

const detect::Machine hopper = machine_with("9.0", "13.0");

TEST_CASE("features: a build must have it, and the best such build is named") {
  CHECK(answer(entry("vendor = \"nvidia\"\n"), hopper).label == "cu130");
  const axle::doctor::FeatureAnswer older =
      answer(entry("labels = [\"cu126\"]\n"), hopper, "==2.0");
  CHECK(older.usable == axle::doctor::Usable::yes);
  CHECK(older.label == "cu126");
  // cu130 of 2.0 is there, and nobody knows for which GPUs.
  CHECK(answer(entry("vendor = \"nvidia\"\n"), hopper, "==2.0").label == "cu126");
  CHECK(answer(entry("labels = [\"cu130\"]\n"), hopper, "==2.0").usable ==
        axle::doctor::Usable::unknown);
  const axle::doctor::FeatureAnswer none = answer(entry("vendor = \"amd\"\nonly = true\n"), hopper);
  CHECK(none.usable == axle::doctor::Usable::no);
  CHECK(none.reason == "no AMD GPU");
}

TEST_CASE("features: a GPU of a vendor that no entry names makes the answer unknown") {
  CHECK(answer(entry("vendor = \"amd\"\n"), hopper).usable == axle::doctor::Usable::unknown);
  CHECK(answer(entry("vendor = \"amd\"\n"), {}).usable == axle::doctor::Usable::no);
}

TEST_CASE("features: what is needed besides") {
  CHECK(answer(entry("vendor = \"nvidia\"\ncapability = \"9.0\"\n"), hopper).usable ==
        axle::doctor::Usable::yes);
  CHECK(answer(entry("vendor = \"nvidia\"\ncapability = \"10.0\"\n"), hopper).usable ==
        axle::doctor::Usable::no);
  CHECK(answer(entry("vendor = \"nvidia\"\ngpus = 2\n"), hopper).usable ==
        axle::doctor::Usable::no);
  const axle::doctor::FeatureAnswer open =
      answer(entry("vendor = \"nvidia\"\nunproven = \"a link\"\n"), hopper);
  CHECK(open.usable == axle::doctor::Usable::unknown);
  CHECK(open.reason.contains("a link"));
  CHECK(answer(entry("platforms = [\"linux_aarch64\"]\n"), hopper).usable ==
        axle::doctor::Usable::no);
  CHECK(answer(entry("needs = [\"axle :: amx_tile :: on\"]\n"), hopper).usable ==
        axle::doctor::Usable::unknown);
  detect::Machine without = hopper;
  without.cpu.capabilities.set(detect::Capability::amx_tile, detect::Presence::absent);
  CHECK(answer(entry("needs = [\"axle :: amx_tile :: on\"]\n"), without).usable ==
        axle::doctor::Usable::no);
}

TEST_CASE("features: the best of several entries counts") {
  const std::string two = entry("vendor = \"nvidia\"\ncapability = \"10.0\"\n") + entry("");
  CHECK(answer(two, hopper).usable == axle::doctor::Usable::yes);
}

TEST_CASE("features: earlier releases lack it, later unlisted ones are unknown") {
  CHECK(answer(entry("since = \"2.1\"\n"), hopper, "==2.0").usable == axle::doctor::Usable::no);
  CHECK(answer(entry("since = \"2.1\"\n"), hopper, "==2.1").usable == axle::doctor::Usable::yes);
  std::string old = entry("");
  old.replace(old.find(">=2.0,<2.2"), 10, ">=1.0,<1.2");
  CHECK(answer(old, hopper).usable == axle::doctor::Usable::unknown);
}

}  // namespace
}  // namespace axle::doctor

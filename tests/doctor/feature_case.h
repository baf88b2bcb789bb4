#pragma once
// Answers about one feature of a made-up family.

#include <string>

#include <doctest/doctest.h>

#include "doctor/features/feature_list.h"
#include "tests/index/family_text.h"

namespace axle::doctor {

using detect::Presence;

inline detect::Machine machine_with(const std::string& arch, const std::string& cuda) {
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

inline std::string entry(const std::string& keys) {
  return "\n[[features]]\nname = \"f\"\ntitle = \"F\"\nreleases = \">=2.0,<2.2\"\n"
         "source = [\"CI\"]\nconfidence = \"high\"\n" +
         keys;
}

inline FeatureAnswer answer(const std::string& features, const detect::Machine& machine,
                            const std::string& release = "==2.1") {
  const auto family = index::parse_family(axle::testing::small_family + features, "acme");
  REQUIRE_MESSAGE(family.has_value(), family.error().message);
  const auto* meant = axle::doctor::meant_release(*family, *wheel::parse_specifiers(release));
  REQUIRE(meant != nullptr);
  const auto answers = axle::doctor::list_features(*family, *meant, {machine}, {});
  REQUIRE(answers.size() == 1);
  return answers[0];
}

inline const detect::Machine hopper = machine_with("9.0", "13.0");

}  // namespace axle::doctor

// Features of a made-up family: which entry counts on which machine.
#include "doctor/features/feature_list.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/doctor/feature_case.h"
#include "tests/index/family_text.h"

namespace axle::doctor {
namespace {

TEST_CASE("features: an exact version is of its release, with the build that it names") {
  const auto family = index::parse_family(axle::testing::small_family, "acme");
  REQUIRE(family.has_value());
  const auto meant = [&](const char* wanted) {
    const auto* release = axle::doctor::meant_release(*family, *wheel::parse_specifiers(wanted));
    return release == nullptr ? std::string() : release->version;
  };
  CHECK(meant("==2.1.3") == meant("==2.1"));
  CHECK(meant("==2.1.3+cu130") == meant("==2.1"));
  CHECK(meant("==2.1+cu99").empty());
  CHECK(axle::doctor::exact_version(*wheel::parse_specifiers(">=2.1")) == std::nullopt);
}

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

TEST_CASE("features: a feature that is gone, and what to change") {
  const FeatureAnswer gone = answer(entry("since = \"1.0\"\nuntil = \"2.1\"\n"), hopper);
  CHECK(gone.usable == Usable::no);
  CHECK(gone.reason == "acme 2.1 has it no more");
  CHECK(gone.change == "acme 2.0");
  CHECK(gone.since == "1.0");
  CHECK(gone.until == "2.1");
  CHECK(answer(entry("until = \"2.1\"\n"), hopper, "==2.0").usable == Usable::yes);
  CHECK(answer(entry("since = \"2.1\"\n"), hopper, "==2.0").change == "acme 2.1 or newer");
}

TEST_CASE("features: the build's toolkit and the driver's CUDA") {
  const std::string nvidia = "vendor = \"nvidia\"\n";
  CHECK(answer(entry(nvidia + "toolkit = \"13.0\"\n"), hopper).usable == Usable::yes);
  const FeatureAnswer old = answer(entry(nvidia + "toolkit = \"13.1\"\n"), hopper);
  CHECK(old.usable == Usable::no);
  CHECK(old.reason == "it needs a build with CUDA 13.1, but cu130 was built with 13.0");
  CHECK(old.change == "nothing that is known");  // no label has one
  CHECK(answer(entry(nvidia + "cuda = \"13.0\"\n"), hopper).usable == Usable::yes);
  const FeatureAnswer driver = answer(entry(nvidia + "cuda = \"13.1\"\n"), hopper);
  CHECK(driver.usable == Usable::no);
  CHECK(driver.reason == "it needs a driver that runs CUDA 13.1, but this one runs 13.0");
  CHECK(driver.change == "a driver that runs CUDA 13.1 or newer");
  // Without an answer of the driver no build for NVIDIA fits, so that a build for any GPU has it.
  detect::Machine silent = hopper;
  silent.drivers[0].api_version.clear();
  CHECK(answer(entry(nvidia + "cuda = \"13.1\"\n"), silent).usable != Usable::yes);
}

TEST_CASE("features: what no fact shows says how to find out") {
  const std::string keys = "vendor = \"nvidia\"\nunproven = \"a link\"\n";
  const FeatureAnswer open = answer(entry(keys + "check = \"acme-links\"\n"), hopper);
  CHECK(open.usable == Usable::unknown);
  CHECK(open.reason == "not confirmed: a link");
  CHECK(open.change == "find out with acme-links");
  CHECK(answer(entry(keys), hopper).change.empty());
  // What is known to be missing is no question any more.
  CHECK(answer(entry(keys + "gpus = 2\n"), hopper).usable == Usable::no);
}

TEST_CASE("features: what would help, by what is missing") {
  const auto change = [](const std::string& keys, const detect::Machine& machine) {
    return answer(entry(keys), machine).change;
  };
  CHECK(change("vendor = \"intel\"\nonly = true\n", hopper) == "a machine with an Intel GPU");
  CHECK(change("vendor = \"nvidia\"\ncapability = \"10.0\"\n", hopper) ==
        "a GPU with compute capability 10.0 or newer");
  CHECK(change("vendor = \"nvidia\"\ngpus = 4\n", hopper) == "a machine with 4 such GPUs");
  CHECK(change("vendor = \"nvidia\"\nneeds = [\"nvidia :: sm_arch :: 120_real\"]\n", hopper) ==
        "an NVIDIA GPU with compute capability 12.0");
  CHECK(change("needs = [\"axle :: amx_tile :: on\"]\n", hopper).empty());  // unknown
  detect::Machine plain = hopper;
  plain.cpu.capabilities.set(detect::Capability::amx_tile, detect::Presence::absent);
  CHECK(change("needs = [\"axle :: amx_tile :: on\"]\n", plain) == "a CPU with amx_tile");
  detect::Machine arm;
  arm.cpu.arch = detect::Arch::aarch64;
  CHECK(change("platforms = [\"linux_x86_64\"]\n", arm) == "a linux_x86_64 machine");
  detect::Machine old = hopper;
  old.drivers[0].api_version = "12.4";
  CHECK(change("labels = [\"cu130\"]\n", old) == "NVIDIA driver 580 or newer");
  detect::Machine broken = hopper;
  broken.gpus[0].usable = detect::Presence::blocked;
  broken.problems.push_back({"nvidia.no-device-nodes", "no device nodes", "run nvidia-modprobe"});
  CHECK(change("vendor = \"nvidia\"\nonly = true\n", broken) == "run nvidia-modprobe");
}

TEST_CASE("features: the build that was chosen counts, not the best one") {
  const auto family = index::parse_family(
      axle::testing::small_family + entry("vendor = \"nvidia\"\ncapability = \"9.0\"\n"), "acme");
  REQUIRE(family.has_value());
  const auto* release = meant_release(*family, *wheel::parse_specifiers("==2.1"));
  REQUIRE(release != nullptr);
  const auto judge = [&](const detect::Machine& machine, const char* chosen) {
    return list_features(*family, *release, {machine}, {}, chosen).at(0);
  };
  detect::Machine without;
  without.cpu.arch = detect::Arch::x86_64;
  CHECK(judge(hopper, "cu130").usable == Usable::yes);
  const FeatureAnswer other = judge(hopper, "cpu");
  CHECK(other.usable == Usable::no);
  CHECK(other.reason == "the build cpu does not have it");
  CHECK(other.change == "the build cu130, which fits too");
  CHECK(other.label.empty());
  // Without a GPU the hardware is what is missing, not another build.
  CHECK(judge(without, "cpu").reason == "no NVIDIA GPU");
  // A build may be chosen although it does not fit.
  CHECK(judge(without, "cu130").reason == "no NVIDIA GPU");
  const FeatureAnswer forced = judge(machine_with("9.0", "12.4"), "cu130");
  CHECK(forced.usable == Usable::no);
  CHECK(forced.reason.contains("the build cu130 does not fit"));
  CHECK(forced.change == "NVIDIA driver 580 or newer, or acme 2.0");
}

TEST_CASE("features: of several entries the one that speaks of the release and of the GPU") {
  // The first entry says nothing of 2.1: that must not hide the "no" of the second.
  std::string old = entry("vendor = \"nvidia\"\n");
  old.replace(old.find(">=2.0,<2.2"), 10, ">=1.0,<1.2");
  const std::string newer = entry("vendor = \"nvidia\"\ncapability = \"10.0\"\n");
  CHECK(answer(old + newer, hopper).usable == Usable::no);
  CHECK(answer(newer + old, hopper).usable == Usable::no);
  // Of two that say no the one about this machine's GPU is told.
  const std::string amd = entry("vendor = \"amd\"\n");
  CHECK(answer(amd + newer, hopper).reason.contains("compute capability 10.0"));
  CHECK(answer(entry("platforms = [\"macos_arm64\"]\n") + newer, hopper)
            .reason.contains("compute capability 10.0"));
  // An entry that says nothing of the release says nothing of its vendor either.
  CHECK(answer(amd + old, hopper).usable == Usable::unknown);
}

TEST_CASE("features: what the machine lacks is told before what the release lacks") {
  // Neither helps without the other.
  const FeatureAnswer gpu =
      answer(entry("vendor = \"intel\"\nonly = true\nsince = \"2.1\"\n"), hopper, "==2.0");
  CHECK(gpu.reason == "no Intel GPU; it was added in acme 2.1");
  CHECK(gpu.change == "a machine with an Intel GPU, and acme 2.1 or newer");
  CHECK(answer(entry("platforms = [\"macos_arm64\"]\nsince = \"2.1\"\n"), hopper, "==2.0").reason ==
        "only builds for macos_arm64 have it; it was added in acme 2.1");
  const FeatureAnswer code = answer(
      entry("vendor = \"nvidia\"\ncapability = \"10.0\"\nsince = \"2.1\"\n"), hopper, "==2.0");
  CHECK(code.reason ==
        "it needs compute capability 10.0, but the GPU has 9.0; it was added in acme 2.1");
  CHECK(code.change == "a GPU with compute capability 10.0 or newer, and acme 2.1 or newer");
  CHECK(
      answer(entry("vendor = \"nvidia\"\ncapability = \"9.0\"\nsince = \"2.1\"\n"), hopper, "==2.0")
          .reason == "it was added in acme 2.1");
}

TEST_CASE("features: releases are named where they were found to help") {
  // The builds of 2.1 have no code for this GPU, those of 2.0 have.
  const FeatureAnswer pascal = answer(entry("vendor = \"nvidia\"\n"), machine_with("6.0", "13.0"));
  CHECK(pascal.usable == Usable::no);
  CHECK(pascal.change == "acme 2.0");
  // Nor would a newer driver help: it is not what is missing.
  const FeatureAnswer old = answer(entry("vendor = \"nvidia\"\n"), machine_with("6.0", "12.4"));
  CHECK_MESSAGE(old.reason.contains("6.0"), old.reason);
  CHECK(old.change == "acme 2.0");
  // It came with a release that has no build for the GPU any more.
  const FeatureAnswer never =
      answer(entry("vendor = \"nvidia\"\nsince = \"2.1\"\n"), machine_with("6.0", "13.0"), "==2.0");
  CHECK_MESSAGE(
      never.reason.starts_with("it was added in acme 2.1; with acme 2.1: the build cu130 does not"),
      never.reason);
  CHECK(never.change == "a GPU that builds of acme 2.1 have code for, and acme 2.1 or newer");
}

TEST_CASE("features: a GPU that is part of the CPU is none of those that are discrete") {
  const std::string row = entry("vendor = \"nvidia\"\ndiscrete = true\n");
  detect::Machine one = hopper;
  CHECK(answer(row, one).usable == Usable::yes);
  one.gpus[0].integrated = true;
  CHECK(answer(row, one).reason == "it is for discrete GPUs, and this one is part of the CPU");
  CHECK(answer(row, one).change == "a discrete NVIDIA GPU");
  one.gpus.push_back(hopper.gpus[0]);
  CHECK(answer(row, one).usable == Usable::yes);
  CHECK_FALSE(
      index::parse_family(axle::testing::small_family + entry("discrete = true\n"), "acme"));
}

TEST_CASE("features: of a system without such builds in any release, no release is named") {
  const std::string row = entry("vendor = \"amd\"\nsince = \"2.0\"\n");
  detect::Machine instinct = machine_with("gfx942", "");
  instinct.gpus[0].vendor = detect::GpuVendor::amd;
  instinct.cpu.arch = detect::Arch::x86_64;
  const FeatureAnswer none = answer(row, instinct);  // 2.1 has no build for AMD, 2.0 has
  CHECK(none.reason == "acme 2.1 has no build with it for linux_x86_64");
  CHECK(none.change == "acme 2.0");
}

TEST_CASE("features: of entries for several systems the one for this system speaks") {
  const std::string rows = entry("vendor = \"intel\"\nplatforms = [\"linux_aarch64\"]\n") +
                           entry("vendor = \"intel\"\nplatforms = [\"linux_x86_64\"]\n");
  detect::Machine none;
  none.cpu.arch = detect::Arch::x86_64;
  CHECK(answer(rows, none).reason == "no Intel GPU");
  none.cpu.arch = detect::Arch::aarch64;
  none.os.system = "Windows";
  CHECK(answer(rows, none).reason == "only builds for linux_aarch64, linux_x86_64 have it");
}

TEST_CASE("features: a compute capability that is needed is not called the build's code") {
  const FeatureAnswer code = answer(
      entry("vendor = \"nvidia\"\n"
            "needs = [\"nvidia :: sm_arch :: 100_real\", \"nvidia :: sm_arch :: 120_real\"]\n"),
      hopper);
  CHECK(code.reason ==
        "it needs compute capability 10.0 or compute capability 12.0, but the GPU has 9.0");
}

TEST_CASE("features: a system that a release has no builds for") {
  const std::string builds = "builds = [\n";
  std::string family = axle::testing::small_family;
  const auto at = family.find(builds, family.find("version = \"2.0\"")) + builds.size();
  family.insert(at,
                "  { label = \"cpu\", platform = \"windows_arm64\", source = [\"CI\"], "
                "confidence = \"high\" },\n");
  const std::string schema = "schema = 1\n";
  REQUIRE(family.contains(schema));
  family.insert(family.find(schema) + schema.size(),
                "ended-platforms = { macos_x86_64 = \"1.9\" }\n");
  const auto parsed = index::parse_family(family + entry(""), "acme");
  REQUIRE_MESSAGE(parsed.has_value(), parsed.error().message);
  const auto of = [&](const char* release, const char* system, detect::Arch arch) {
    detect::Machine machine;
    machine.cpu.arch = arch;
    machine.os.system = system;
    return list_features(*parsed, *meant_release(*parsed, *wheel::parse_specifiers(release)),
                         {machine}, {})
        .at(0);
  };
  // 2.0 had one: no source says that 2.1 has none.
  const FeatureAnswer silent = of("==2.1", "Windows", detect::Arch::aarch64);
  CHECK(silent.usable == Usable::unknown);
  CHECK(silent.reason == "the family acme has no fact about a build of acme 2.1 for windows_arm64");
  CHECK(of("==2.0", "Windows", detect::Arch::aarch64).usable == Usable::yes);
  const FeatureAnswer ended = of("==2.1", "Darwin", detect::Arch::x86_64);
  CHECK(ended.usable == Usable::no);
  CHECK(ended.reason == "acme 1.9 was the last release for macos_x86_64");
  CHECK(ended.change == "acme 1.9, of which this file knows no features");
  const auto of_gpus = index::parse_family(
      family + entry("vendor = \"nvidia\"\n") + entry("vendor = \"amd\"\n"), "acme");
  detect::Machine mac;
  mac.cpu.arch = detect::Arch::x86_64;
  mac.os.system = "Darwin";
  CHECK(list_features(*of_gpus, of_gpus->releases.front(), {mac}, {}).at(0).reason == ended.reason);
}

TEST_CASE("features: a row that says nothing of the machine's GPU does not say no for it") {
  // The row for AMD is of other releases; that of any build is for another system.
  std::string amd = entry("vendor = \"amd\"\n");
  amd.replace(amd.find(">=2.0,<2.2"), 10, ">=2.1,<2.2");
  const std::string rows =
      entry("vendor = \"nvidia\"\n") + amd + entry("platforms = [\"macos_arm64\"]\n");
  detect::Machine instinct = machine_with("gfx942", "6.4");
  instinct.gpus[0].vendor = detect::GpuVendor::amd;
  instinct.drivers[0].vendor = detect::GpuVendor::amd;
  const FeatureAnswer silent = answer(rows, instinct, "==2.0");
  CHECK(silent.usable == Usable::unknown);
  CHECK(silent.reason == "the family acme has no fact about it on AMD GPUs");
  // Nor does one for a GPU whose driver is not known to work.
  instinct.gpus[0].usable = Presence::unknown;
  CHECK(answer(entry("vendor = \"nvidia\"\n"), instinct, "==2.0").usable == Usable::unknown);
  instinct.gpus[0].usable = Presence::absent;
  CHECK(answer(entry("vendor = \"nvidia\"\n"), instinct, "==2.0").usable == Usable::no);
}

TEST_CASE("features: all that is missing is named, not one of it") {
  const std::string rows =
      entry("vendor = \"nvidia\"\n") + entry("vendor = \"amd\"\n") + entry("vendor = \"intel\"\n");
  detect::Machine without;
  without.cpu.arch = detect::Arch::x86_64;
  const FeatureAnswer none = answer(rows, without);
  CHECK(none.usable == Usable::no);
  CHECK(none.reason == "no NVIDIA, AMD or Intel GPU");
  CHECK(none.change == "a machine with an NVIDIA GPU or an Intel GPU");  // 2.1 has no build for AMD
  detect::Machine plain = hopper;
  for (const auto lacking : {detect::Capability::amx_tile, detect::Capability::amx_int8})
    plain.cpu.capabilities.set(lacking, Presence::absent);
  const FeatureAnswer two =
      answer(entry("needs = [\"axle :: amx_tile :: on\", \"axle :: amx_int8 :: on\"]\n"), plain);
  CHECK(two.usable == Usable::no);
  CHECK_MESSAGE(two.reason.contains("amx_int8"), two.reason);
  CHECK_MESSAGE(two.reason.contains("amx_tile"), two.reason);
  CHECK(two.change == "a CPU with amx_int8 and amx_tile");
}

TEST_CASE("features: an Intel GPU that a build was not compiled for may run its SPIR-V") {
  detect::Machine arc = machine_with("12.55.8", "");
  arc.gpus[0].vendor = detect::GpuVendor::intel;
  arc.drivers[0].vendor = detect::GpuVendor::intel;
  const FeatureAnswer open = answer(entry("vendor = \"intel\"\n"), arc);
  CHECK(open.usable == Usable::unknown);
  CHECK_MESSAGE(open.reason.contains("nobody has verified that its SPIR-V runs there"),
                open.reason);
}

TEST_CASE("features: no build of a release whose wheels are for a newer macOS has any") {
  std::string family = axle::testing::small_family;
  const auto add = [&](const std::string& release, const std::string& macos) {
    const std::string builds = "builds = [\n";
    const auto at =
        family.find(builds, family.find("version = \"" + release + "\"")) + builds.size();
    family.insert(at, "  { label = \"cpu\", platform = \"macos_arm64\", macos = \"" + macos +
                          "\", source = [\"CI\"], confidence = \"high\" },\n");
  };
  add("2.1", "14.0");
  add("2.0", "11.0");
  const auto parsed = index::parse_family(family + entry(""), "acme");
  REQUIRE_MESSAGE(parsed.has_value(), parsed.error().message);
  const auto of = [&](const char* release, const char* macos) {
    detect::Machine mac;
    mac.cpu.arch = detect::Arch::aarch64;
    mac.os.system = "Darwin";
    mac.os.name = macos;
    return list_features(*parsed, *meant_release(*parsed, *wheel::parse_specifiers(release)), {mac},
                         {})
        .at(0);
  };
  const FeatureAnswer old = of("==2.1", "macOS 13.6");
  CHECK(old.usable == Usable::no);
  CHECK(old.reason == "the wheels of acme 2.1 are for macOS 14 and newer, and this is macOS 13.6");
  CHECK(old.change == "macOS 14 or newer, or acme 2.0");
  CHECK(of("==2.1", "macOS 14.0").usable == Usable::yes);
  CHECK(of("==2.0", "macOS 13.6").usable == Usable::yes);
  std::string linux = axle::testing::small_family;
  const std::string build = "{ label = \"cpu\", platform = \"linux_x86_64\",";
  linux.insert(linux.find(build) + build.size(), " macos = \"14.0\",");
  CHECK_FALSE(index::parse_family(linux, "acme").has_value());
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

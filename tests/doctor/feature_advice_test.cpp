// What would help a feature of a made-up family is what comes out as usable.
#include "doctor/features/feature_advice.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/doctor/feature_case.h"
#include "tests/index/family_text.h"

namespace axle::doctor {
namespace {

TEST_CASE("features: advice is what comes out as usable where it is followed") {
  const auto change = [](const std::string& keys, const detect::Machine& machine,
                         const char* release = "==2.1") {
    return answer(entry(keys), machine, release).change;
  };
  // Builds for AMD are of 2.0 alone, and no release has one for Arm.
  CHECK(change("vendor = \"amd\"\nonly = true\n", hopper) ==
        "a machine with an AMD GPU, and acme 2.0");
  CHECK(change("vendor = \"amd\"\nonly = true\nsince = \"2.1\"\n", hopper, "==2.0") ==
        "nothing that is known");
  CHECK(change("platforms = [\"linux_aarch64\"]\n", hopper) == "nothing that is known");
  // No newer driver makes an older GPU a newer one.
  detect::Machine old = hopper;
  old.drivers[0].api_version = "12.4";
  const FeatureAnswer code = answer(entry("vendor = \"nvidia\"\ncapability = \"10.0\"\n"), old);
  CHECK(code.reason == "it needs compute capability 10.0, but the GPU has 9.0");
  CHECK(code.change == "a GPU with compute capability 10.0 or newer");
  // Two of the GPUs that cannot would not, either.
  const std::string two = "vendor = \"nvidia\"\ngpus = 2\n";
  CHECK(change(two + "needs = [\"nvidia :: sm_arch :: 75_real\"]\n", hopper) ==
        "2 NVIDIA GPUs with compute capability 7.5");
  detect::Machine chip = hopper;
  chip.gpus[0].integrated = true;
  CHECK(change(two, chip) == "a machine with 2 NVIDIA GPUs");
  CHECK(change(two, hopper) == "a machine with 2 such GPUs");
  // Of two values the one that a build has code for.
  CHECK(change("vendor = \"nvidia\"\nneeds = [\"nvidia :: sm_arch :: 75_real\", "
               "\"nvidia :: sm_arch :: 80_real\"]\n",
               hopper) == "an NVIDIA GPU with compute capability 7.5");
  // A machine of another kind needs what the feature needs there.
  detect::Machine arm;
  arm.cpu.arch = detect::Arch::aarch64;
  CHECK(change("platforms = [\"linux_x86_64\"]\nneeds = [\"axle :: amx_tile :: on\"]\n", arm) ==
        "a linux_x86_64 machine with a CPU with amx_tile");
  CHECK(change("platforms = [\"linux_x86_64\"]\nvendor = \"nvidia\"\n", arm) ==
        "a linux_x86_64 machine with an NVIDIA GPU");
  // What is not confirmed there is no promise.
  CHECK(change(two + "unproven = \"a link\"\n", hopper) == "perhaps a machine with 2 such GPUs");
  // What keeps a GPU or a CPU from being used is repaired, not replaced.
  detect::Machine masked = hopper;
  masked.gpus.push_back(hopper.gpus[0]);
  masked.gpus[1].masked = true;
  masked.gpus[1].sources["masked"] = "CUDA_VISIBLE_DEVICES";
  CHECK(change(two, masked) == "unset CUDA_VISIBLE_DEVICES");
  detect::Machine crashed = hopper;
  crashed.gpus[0].usable = Presence::blocked;
  crashed.gpus[0].arch.clear();
  crashed.gpus[0].name = "NVIDIA H100 80GB HBM3";
  crashed.drivers[0].usable = Presence::blocked;
  crashed.problems.push_back({"nvidia.driver-crashed", "it crashes", "reinstall the driver"});
  CHECK(change("vendor = \"nvidia\"\nonly = true\n", crashed) == "reinstall the driver");
  CHECK(change(two, crashed) == "reinstall the driver, and a machine with 2 such GPUs");
  detect::Machine waiting = hopper;
  waiting.problems.push_back({"nvidia.not-ready", "not ready yet", "start the fabric manager"});
  const FeatureAnswer early = answer(entry("vendor = \"nvidia\"\n"), waiting);
  CHECK(early.reason == "not ready yet");
  CHECK(early.change == "start the fabric manager");
  detect::Machine disabled = hopper;
  disabled.cpu.capabilities.set(detect::Capability::amx_tile, Presence::blocked);
  CHECK(change("needs = [\"axle :: amx_tile :: on\"]\n", disabled) ==
        "a kernel and permissions for amx_tile, which the CPU has");
  // The oldest driver that will do.
  detect::Machine kepler = hopper;
  kepler.drivers[0].api_version = "11.4";
  CHECK(change("vendor = \"nvidia\"\n", kepler) == "NVIDIA driver 580 or newer");
  // A release that the machine can use is nearer than other hardware.
  detect::Machine pascal = machine_with("6.0", "13.0");
  CHECK(change("vendor = \"nvidia\"\n", pascal) == "acme 2.0");
}

TEST_CASE("features: the same change of two vendors' GPUs is tried for each") {
  std::string second = entry("vendor = \"intel\"\nonly = true\ngpus = 2\n");
  second.replace(second.find("\"f\""), 3, "\"g\"");
  const auto family = index::parse_family(
      axle::testing::small_family + entry("vendor = \"nvidia\"\nonly = true\ngpus = 2\n") + second,
      "acme");
  REQUIRE_MESSAGE(family.has_value(), family.error().message);
  detect::Machine both = hopper;
  both.gpus.push_back(hopper.gpus[0]);
  both.gpus[1].vendor = detect::GpuVendor::intel;
  both.gpus[1].arch = "20.1.0";
  both.drivers.push_back(hopper.drivers[0]);
  both.drivers[1].vendor = detect::GpuVendor::intel;
  for (const FeatureAnswer& one : list_features(*family, family->releases.front(), {both}, {})) {
    CAPTURE(one.name);
    CHECK(one.change == "a machine with 2 such GPUs");
  }
}

}  // namespace
}  // namespace axle::doctor

#include "providers/platforms.h"

#include <algorithm>
#include <charconv>

#include "detect/os/macos.h"
#include "providers/cpu_flags.h"
#include "providers/gpu_state.h"
#include "providers/intel_gpus.h"
#include "providers/nvidia_state.h"

namespace axle::providers {

using detect::Arch;
using detect::Machine;

namespace {

constexpr std::string_view aarch64_platform = "aarch64_platform";
constexpr std::string_view intel_platform = "intel_platform";
constexpr std::string_view mps = "mps";
constexpr std::string_view tegra = "tegra";
constexpr std::string_view sbsa = "sbsa";

/// Of those that can be required; macOS 27 is announced.
constexpr unsigned newest_known_macos = 30;

/// Jetson Linux 38 (JetPack 7) has the driver stack of servers.
constexpr unsigned first_sbsa_release = 38;

unsigned release_of(const Machine& machine) {
  unsigned release = 0;
  const std::string& text = machine.os.tegra_release;
  std::from_chars(text.data(), text.data() + text.size(), release);
  return release;
}

std::vector<std::string> arm_platforms(const Machine& machine) {
  if (machine.cpu.arch != Arch::aarch64 || machine.os.system != "Linux") return {};
  const bool jetson = !machine.os.tegra_release.empty() || has_capability(machine, is_tegra);
  if (!jetson) return {std::string(sbsa)};
  if (release_of(machine) >= first_sbsa_release && has_capability(machine, is_thor))
    return {std::string(tegra), std::string(sbsa)};
  return {std::string(tegra)};
}

Fact about_arm_platform(const Machine& machine, std::string_view value) {
  if (machine.cpu.arch != Arch::aarch64) return other_architecture(machine.cpu, Arch::aarch64);
  const std::vector<std::string> here = arm_platforms(machine);
  const std::string needed(value);
  if (here.empty() && machine.os.system.empty())
    return {FactCode::value_unknown, "platform of this machine", {needed}};
  if (here.empty()) return {FactCode::platform, "machine", {needed}, {machine.os.system}};
  const std::string_view is = here.size() > 1         ? "a Jetson with the servers' drivers"
                              : here.front() == tegra ? "a Jetson"
                                                      : "not a Jetson";
  const std::string& release = machine.os.tegra_release;
  return {FactCode::platform,
          "machine",
          {needed},
          {std::string(is)},
          release.empty() ? release : "Jetson Linux " + release};
}

/// The versions of macOS by which programs require MPS, newest first: "26", "15", "14", "13",
/// "12.3". Between 15 and 26 there is none.
std::vector<std::string> mps_versions(unsigned newest) {
  constexpr unsigned named_by_year = 26;
  constexpr unsigned last_in_a_row = 15;
  std::vector<std::string> versions;
  for (unsigned major = newest; major > detect::first_mps.first; --major) {
    if (major >= named_by_year || major <= last_in_a_row) versions.push_back(std::to_string(major));
  }
  versions.push_back(render_version(detect::first_mps));
  return versions;
}

std::vector<std::string> mps_of(const Machine& machine) {
  const auto version = detect::macos_version(machine.os);
  const bool usable = machine.mps && machine.mps->usable == detect::Presence::present;
  return usable && version ? mps_versions(version->first) : std::vector<std::string>();
}

Fact about_mps(const Machine& machine, std::string_view value) {
  const std::string needed(value);
  const auto version = detect::macos_version(machine.os);
  if (machine.mps && version && machine.mps->usable != detect::Presence::unknown)
    return {FactCode::system_version_bound, "macOS", {needed}, {render_version(*version)}};
  if (machine.mps) return {FactCode::value_unknown, "GPU of this Mac", {needed}};
  if (machine.os.system.empty()) return {FactCode::value_unknown, "operating system", {needed}};
  return {FactCode::platform, "machine", {"macOS on Apple's processors"}, {machine.os.system}};
}

}  // namespace

bool is_platform_feature(std::string_view feature) {
  return feature == aarch64_platform || feature == intel_platform || feature == mps;
}

Features supported_platforms(const Machine& machine, const GpuPolicy& policy) {
  Features features;
  if (Feature arm{std::string(aarch64_platform), true, arm_platforms(machine)}; !arm.values.empty())
    features.push_back(std::move(arm));
  Feature intel{std::string(intel_platform), true,
                join_lists(policy, intel_names(machine, policy))};
  if (!intel.values.empty()) features.push_back(std::move(intel));
  if (Feature metal{std::string(mps), false, mps_of(machine)}; !metal.values.empty())
    features.push_back(std::move(metal));
  return features;
}

Features known_platforms() {
  Feature intel{std::string(intel_platform), true, {}};
  intel.values = known_intel_names();
  return {{std::string(aarch64_platform), true, {std::string(tegra), std::string(sbsa)}},
          std::move(intel),
          {std::string(mps), false, mps_versions(newest_known_macos)}};
}

Facts platform_facts(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                     std::string_view value) {
  if (feature == aarch64_platform) return {about_arm_platform(machine, value)};
  if (feature == intel_platform) return intel_platform_facts(machine, policy, value);
  if (feature == mps) return {about_mps(machine, value)};
  return {unknown_property("axle", feature, value)};
}

}  // namespace axle::providers

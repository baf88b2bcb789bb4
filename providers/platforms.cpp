#include "providers/platforms.h"

#include <algorithm>
#include <charconv>

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
constexpr std::string_view tegra = "tegra";
constexpr std::string_view sbsa = "sbsa";

/// Jetson Linux 38 (JetPack 7) has the driver stack of servers.
constexpr unsigned first_sbsa_release = 38;

unsigned release_of(const Machine& machine) {
  unsigned release = 0;
  const std::string& text = machine.os.tegra_release;
  std::from_chars(text.data(), text.data() + text.size(), release);
  return release;
}

std::vector<std::string> arm_platforms(const Machine& machine) {
  if (machine.cpu.arch != Arch::aarch64 || machine.os.system.empty()) return {};
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
  if (here.empty()) return {FactCode::value_unknown, "platform of this machine", {needed}};
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

}  // namespace

bool is_platform_feature(std::string_view feature) {
  return feature == aarch64_platform || feature == intel_platform;
}

Features supported_platforms(const Machine& machine, const GpuPolicy& policy) {
  Features features;
  if (Feature arm{std::string(aarch64_platform), true, arm_platforms(machine)}; !arm.values.empty())
    features.push_back(std::move(arm));
  Feature intel{std::string(intel_platform), true,
                join_lists(policy, intel_names(machine, policy))};
  if (!intel.values.empty()) features.push_back(std::move(intel));
  return features;
}

Features known_platforms() {
  Feature intel{std::string(intel_platform), true, {}};
  intel.values = known_intel_names();
  return {{std::string(aarch64_platform), true, {std::string(tegra), std::string(sbsa)}},
          std::move(intel)};
}

Facts platform_facts(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                     std::string_view value) {
  if (feature == aarch64_platform) return {about_arm_platform(machine, value)};
  if (feature == intel_platform) return intel_platform_facts(machine, policy, value);
  return {unknown_property("axle", feature, value)};
}

}  // namespace axle::providers

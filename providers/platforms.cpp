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

std::string describe_arm_platform(const Machine& machine, std::string_view value) {
  if (std::string other = describe_other_arch(machine.cpu, Arch::aarch64); !other.empty())
    return other;
  const std::vector<std::string> here = arm_platforms(machine);
  if (here.empty()) return "it is not known which platform this is";
  std::string text = here.size() > 1         ? "the machine is a Jetson with the servers' drivers"
                     : here.front() == tegra ? "the machine is a Jetson"
                                             : "the machine is no Jetson";
  if (!machine.os.tegra_release.empty()) text += " (Jetson Linux " + machine.os.tegra_release + ")";
  return text + ", the build is for " + std::string(value);
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

std::string platform_fact(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                          std::string_view value) {
  if (feature == aarch64_platform) return describe_arm_platform(machine, value);
  if (feature == intel_platform) return describe_intel_platform(machine, policy, value);
  return describe_unheard("axle", feature, value);
}

}  // namespace axle::providers

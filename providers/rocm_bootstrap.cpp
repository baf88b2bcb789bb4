#include "providers/rocm_bootstrap.h"

#include <algorithm>
#include <utility>

#include "providers/namespaces.h"

namespace axle::providers {
namespace {

/// rocm_bootstrap/targets.py of 0.3.0, ALL_TARGETS; gfx1250-strict is gfx1250 to it.
constexpr std::string_view bootstrap_targets[] = {
    "gfx900",  "gfx902",  "gfx904",  "gfx906",  "gfx908",  "gfx909",  "gfx90a",
    "gfx90c",  "gfx942",  "gfx950",  "gfx1010", "gfx1011", "gfx1012", "gfx1013",
    "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036",
    "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152",
    "gfx1153", "gfx1200", "gfx1201", "gfx1250", "gfx1251"};

/// What the kernel says, which ROCm's variables do not change.
std::string kernel_target(const detect::Gpu& gpu) {
  constexpr std::string_view taken = " taken as ";
  if (gpu.reason_code != "gfx-override") return gpu.arch;
  const std::size_t at = gpu.reason.find(taken);
  return at == std::string::npos ? gpu.arch : gpu.reason.substr(0, at);
}

}  // namespace

BootstrapAnswer rocm_bootstrap_answer(const detect::Machine& machine) {
  BootstrapAnswer answer;
  for (const detect::Gpu& gpu : machine.gpus) {
    if (gpu.vendor != detect::GpuVendor::amd || gpu.usable != detect::Presence::present ||
        gpu.masked || gpu.arch.empty()) {
      continue;
    }
    std::string target = kernel_target(gpu);
    if (std::ranges::find(bootstrap_targets, target) == std::end(bootstrap_targets))
      return {{}, std::move(target)};
    if (std::ranges::find(answer.targets, target) == answer.targets.end())
      answer.targets.push_back(std::move(target));
  }
  return answer;
}

}  // namespace axle::providers

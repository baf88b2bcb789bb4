// Namespace `tpu`, as uv 0.13.8 defines it for tpu-variant-provider 0.1.0: whether there is a TPU.
// uv only checks the bus; here a TPU that no program can access does not count.

#include <algorithm>

#include "providers/cpu_flags.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Machine;
using detect::Npu;
using detect::NpuKind;
using detect::Presence;

namespace {

constexpr std::string_view ns = "tpu";
constexpr std::string_view present = "present";

/// The TPU that represents the machine: one that works, else one that is not known to be broken.
const Npu* find_tpu(const Machine& machine) {
  const Npu* found = nullptr;
  for (const Npu& npu : machine.npus) {
    if (npu.kind != NpuKind::tpu) continue;
    if (npu.usable == Presence::present) return &npu;
    if (found == nullptr || npu.usable == Presence::unknown) found = &npu;
  }
  return found;
}

/// A machine whose bus was not examined reports neither.
Features supported(const Machine& machine, const GpuPolicy& /*policy*/) {
  if (machine.os.system.empty()) return {};
  const Npu* tpu = find_tpu(machine);
  if (tpu != nullptr && tpu->usable == Presence::unknown) return {};
  const bool works = tpu != nullptr && tpu->usable == Presence::present;
  return {{std::string(present), false, {works ? "true" : "false"}}};
}

Features all() { return {{std::string(present), false, {"true", "false"}}}; }

Facts facts(const Machine& machine, const GpuPolicy& /*policy*/, std::string_view feature,
            std::string_view value) {
  if (feature != present) return {unknown_property(ns, feature, value)};
  const std::string title = "TPU";
  if (machine.os.system.empty()) return {{FactCode::npu_not_looked_for, title}};
  const Npu* tpu = find_tpu(machine);
  if (tpu == nullptr) return {{FactCode::no_npu, title}};
  if (tpu->usable == Presence::unknown) return {{FactCode::device_unknown, title}};
  if (tpu->usable == Presence::present)
    return {{FactCode::device_works, tpu->type.empty() ? title : title + " " + tpu->type}};
  return {{FactCode::device_unusable,
           title,
           {},
           {tpu->reason.empty() ? "no program can reach it" : tpu->reason},
           tpu->reason_code}};
}

constexpr std::string_view plugin_apis[] = {"tpu_variant_provider.plugin:TpuVariantPlugin"};

}  // namespace

Provider tpu_provider() {
  return {ns, "tpu-variant-provider", "0.1.0", plugin_apis, {}, supported, all, facts};
}

}  // namespace axle::providers

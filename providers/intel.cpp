// Namespace `intel`, as intel-variant-provider 0.0.3 defines it: the device IP (GMDID) of each GPU,
// followed by the base platform whose code it also runs. A device that is not in the published
// table keeps its own IP instead of being dropped.

#include <array>

#include "providers/cpu_flags.h"
#include "providers/gpu_state.h"
#include "providers/intel_gpus.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view ns = "intel";
constexpr std::string_view device_ip = "device_ip";

std::string render(const std::array<unsigned, 3>& ip) {
  return std::to_string(ip[0]) + "." + std::to_string(ip[1]) + "." + std::to_string(ip[2]);
}

/// What each counted GPU runs, best first.
std::vector<std::vector<std::string>> device_ips(const Machine& machine, const GpuPolicy& policy) {
  std::vector<std::vector<std::string>> lists;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::intel, policy)) {
    std::vector<std::string>& ips = lists.emplace_back();
    const auto ip = parse_gpu_arch(*gpu);
    if (!ip) continue;
    ips.push_back(render(*ip));
    const KnownIntelGpu* device = find_known_intel_gpu(ips.front());
    if (device != nullptr && !device->base.empty()) ips.emplace_back(device->base);
  }
  return lists;
}

Features supported(const Machine& machine, const GpuPolicy& policy) {
  std::vector<std::string> ips = join_lists(policy, device_ips(machine, policy));
  if (ips.empty()) return {};
  return {{std::string(device_ip), true, std::move(ips)}};
}

Features all() {
  Feature feature{std::string(device_ip), true, {}};
  for (const KnownIntelGpu& device : known_intel_gpus()) feature.values.emplace_back(device.ip);
  return {std::move(feature)};
}

Facts facts(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
            std::string_view value) {
  if (feature != device_ip) return {unknown_property(ns, feature, value)};
  const auto lists = device_ips(machine, policy);
  if (lists.empty()) return {why_no_gpu(machine, GpuVendor::intel, policy)};
  if (lists.size() == 1 && lists.front().empty())
    return {{FactCode::value_unknown, "device IP of the GPU", {std::string(value)}}};
  std::vector<std::string> archs;
  for (const std::vector<std::string>& ips : lists) {
    std::string& arch = archs.emplace_back(ips.empty() ? std::string() : ips[0]);
    if (ips.size() > 1) arch += " (" + ips[1] + ")";
  }
  return what_gpus_are(FactCode::gpu_device_ip, machine, GpuVendor::intel, policy, archs,
                       std::string(value));
}

constexpr std::string_view plugin_apis[] = {"intel_variant_provider.plugin:IntelVariantPlugin",
                                            "provider_variant_xpu.plugin:XpuVariantPlugin"};
constexpr std::string_view aliases[] = {"provider-variant-xpu"};

}  // namespace

Provider intel_provider() {
  return {ns, "intel-variant-provider", "0.0.3", plugin_apis, aliases, supported, all, facts};
}

}  // namespace axle::providers

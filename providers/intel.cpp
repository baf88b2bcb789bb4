// Namespace `intel`, as intel-variant-provider 0.0.3 defines it: the device IP (GMDID) of each GPU,
// followed by the base platform whose code it also runs. A device that the published table does not
// know yet keeps its own IP instead of vanishing.

#include <algorithm>
#include <array>

#include "providers/gpu_state.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view device_ip = "device_ip";

struct Device {
  std::string_view ip;
  std::string_view base;  ///< empty where it is its own
};

constexpr Device devices[] = {
    {"35.11.0", ""},      {"35.10.4", ""},      {"30.5.4", "30.0.4"},   {"30.4.4", "30.0.4"},
    {"30.3.1", "30.0.4"}, {"30.1.0", "30.0.4"}, {"30.0.4", ""},         {"20.4.4", "20.1.0"},
    {"20.2.0", "20.1.0"}, {"20.1.0", ""},       {"12.74.4", ""},        {"12.71.4", "12.70.4"},
    {"12.70.4", ""},      {"12.60.7", ""},      {"12.57.0", "12.55.8"}, {"12.56.5", "12.55.8"},
    {"12.55.8", ""},      {"12.10.0", ""},      {"12.4.0", ""},         {"12.3.0", ""},
    {"12.2.0", ""},       {"12.1.0", ""},       {"12.0.0", ""},
};

std::string render(const std::array<unsigned, 3>& ip) {
  return std::to_string(ip[0]) + "." + std::to_string(ip[1]) + "." + std::to_string(ip[2]);
}

std::string_view base_of(std::string_view ip) {
  const auto* found = std::ranges::find(devices, ip, &Device::ip);
  return found == std::end(devices) ? std::string_view() : found->base;
}

/// What each counted GPU runs, best first.
std::vector<std::vector<std::string>> device_ips(const Machine& machine, const GpuPolicy& policy) {
  std::vector<std::vector<std::string>> lists;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::intel, policy)) {
    std::vector<std::string>& ips = lists.emplace_back();
    const auto ip = parse_gpu_arch(*gpu);
    if (!ip) continue;
    ips.push_back(render(*ip));
    if (const std::string_view base = base_of(ips.front()); !base.empty()) ips.emplace_back(base);
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
  for (const Device& device : devices) feature.values.emplace_back(device.ip);
  return {std::move(feature)};
}

std::string fact(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                 std::string_view value) {
  if (feature != device_ip) {
    return "the provider of intel knows no feature " + std::string(feature);
  }
  const auto lists = device_ips(machine, policy);
  if (lists.empty()) return describe_no_gpu(machine, GpuVendor::intel, policy);
  std::vector<std::string> archs;
  for (const std::vector<std::string>& ips : lists) {
    if (ips.empty() && lists.size() == 1)
      return "it is not known which device IP the Intel GPU has";
    if (ips.empty()) archs.emplace_back("one that is not known");
    if (!ips.empty()) archs.push_back(ips.size() == 1 ? ips[0] : ips[0] + " (" + ips[1] + ")");
  }
  return describe_gpus(machine, GpuVendor::intel, policy, archs, "runs code for device IP",
                       "run code for device IP") +
         ", the build has " + std::string(value);
}

constexpr std::string_view plugin_apis[] = {"intel_variant_provider.plugin:IntelVariantPlugin",
                                            "provider_variant_xpu.plugin:XpuVariantPlugin"};
constexpr std::string_view aliases[] = {"provider-variant-xpu"};

}  // namespace

Provider intel_provider() {
  return {"intel", "intel-variant-provider", "0.0.3", plugin_apis, aliases, supported, all, fact};
}

}  // namespace axle::providers

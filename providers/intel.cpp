// Namespace `intel`, as intel-variant-provider 0.0.3 defines it: the device IP (GMDID) of each GPU,
// followed by the base platform whose code it also runs. A device that the published table does not
// know yet keeps its own IP instead of vanishing.

#include <algorithm>
#include <array>
#include <charconv>

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

using Ip = std::array<unsigned, 3>;

// Widths of the fields: architecture 10 bits, release 8, revision 6 (Level Zero, device IP
// version).
std::optional<Ip> parse_ip(std::string_view text) {
  constexpr Ip largest = {1023, 255, 63};
  Ip ip{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < ip.size(); ++i) {
    const auto [stop, error] = std::from_chars(at, end, ip[i]);
    if (error != std::errc() || ip[i] > largest[i]) return std::nullopt;
    const bool last = i + 1 == ip.size();
    if (last ? stop != end : stop == end || *stop != '.') return std::nullopt;
    at = last ? stop : stop + 1;
  }
  return ip;
}

std::string render(const Ip& ip) {
  return std::to_string(ip[0]) + "." + std::to_string(ip[1]) + "." + std::to_string(ip[2]);
}

std::string_view base_of(std::string_view ip) {
  const auto* found = std::ranges::find(devices, ip, &Device::ip);
  return found == std::end(devices) ? std::string_view() : found->base;
}

// Cards before integrated units, newer before older: the order of the bus decides nothing.
std::vector<std::string> device_ips(const Machine& machine) {
  std::vector<std::pair<bool, Ip>> found;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::intel)) {
    if (const auto ip = parse_ip(gpu->arch)) found.emplace_back(gpu->integrated, *ip);
  }
  std::ranges::sort(found, [](const auto& left, const auto& right) {
    return left.first != right.first ? right.first : left.second > right.second;
  });
  std::vector<std::string> ips;
  const auto add = [&](std::string ip) {
    if (!ip.empty() && std::ranges::find(ips, ip) == ips.end()) ips.push_back(std::move(ip));
  };
  for (const auto& [integrated, ip] : found) {
    const std::string text = render(ip);
    add(text);
    add(std::string(base_of(text)));
  }
  return ips;
}

Features supported(const Machine& machine) {
  std::vector<std::string> ips = device_ips(machine);
  if (ips.empty()) return {};
  return {{std::string(device_ip), true, std::move(ips)}};
}

Features all() {
  Feature feature{std::string(device_ip), true, {}};
  for (const Device& device : devices) feature.values.emplace_back(device.ip);
  return {std::move(feature)};
}

std::string fact(const Machine& machine, std::string_view feature, std::string_view value) {
  if (feature != device_ip) {
    return "the provider of intel knows no feature " + std::string(feature);
  }
  if (counted_gpus(machine, GpuVendor::intel).empty()) {
    return describe_no_gpu(machine, GpuVendor::intel);
  }
  const std::vector<std::string> ips = device_ips(machine);
  if (ips.empty()) return "it is not known which device IP the Intel GPU has";
  std::string text = "the GPU runs code for device IP ";
  for (const std::string& ip : ips) text += (&ip == ips.data() ? "" : ", ") + ip;
  return text + ", the build has " + std::string(value);
}

constexpr std::string_view plugin_apis[] = {"intel_variant_provider.plugin:IntelVariantPlugin",
                                            "provider_variant_xpu.plugin:XpuVariantPlugin"};
constexpr std::string_view aliases[] = {"provider-variant-xpu"};

}  // namespace

Provider intel_provider() {
  return {"intel", "intel-variant-provider", "0.0.3", plugin_apis, aliases, supported, all, fact};
}

}  // namespace axle::providers

#include "providers/gpu_policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "detect/gpu_vendors.h"
#include "providers/gpu_archs.h"

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

namespace {

constexpr std::string_view device_prefix = "device=";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

/// "NVIDIA H100 80GB HBM3" -> "nvidiah10080gbhbm3"
std::string squeezed(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const char small = lower(c);
    if ((small >= 'a' && small <= 'z') || (small >= '0' && small <= '9')) result += small;
  }
  return result;
}

std::optional<std::size_t> parse_index(std::string_view text) {
  std::size_t index = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, index);
  return read.ec == std::errc() && read.ptr == end ? std::optional(index) : std::nullopt;
}

/// All GPUs of `vendor` in the order of its tools: by bus address if all have one, otherwise in the
/// order of the machine.
std::vector<const Gpu*> in_bus_order(const Machine& machine, GpuVendor vendor) {
  std::vector<const Gpu*> gpus;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.vendor == vendor) gpus.push_back(&gpu);
  }
  const bool addressed =
      std::ranges::none_of(gpus, [](const Gpu* gpu) { return gpu->pci_address.empty(); });
  if (addressed) {
    // Pointers into one vector: GPUs with the same address keep the machine's order.
    std::ranges::sort(gpus, [](const Gpu* left, const Gpu* right) {
      return std::pair(std::string_view(left->pci_address), left) <
             std::pair(std::string_view(right->pci_address), right);
    });
  }
  return gpus;
}

bool works(const Gpu& gpu) { return gpu.usable == Presence::present && !gpu.masked; }

/// "00000000:65:00.0" and "65:00.0" -> "0:65:00.0": tools write the domain in different ways.
std::string plain_address(std::string_view address) {
  if (std::ranges::count(address, ':') < 2) return "0:" + lowered(address);
  while (address.starts_with('0') && address[1] != ':') address.remove_prefix(1);
  return lowered(address);
}

/// `index`: the GPU's number in its vendor's order.
bool names(std::string_view device, const Gpu& gpu, std::size_t index) {
  const std::string wanted = lowered(device);
  const std::string vendor = std::string(detect::render_vendor(gpu.vendor)) + ":";
  std::string_view name = wanted;
  if (name.starts_with(vendor)) name.remove_prefix(vendor.size());
  if (const auto given = parse_index(name)) return *given == index;
  if (name.find(':') != std::string_view::npos)
    return !gpu.pci_address.empty() && plain_address(gpu.pci_address) == plain_address(name);
  const std::string part = squeezed(name);
  return !part.empty() && squeezed(gpu.name).find(part) != std::string::npos;
}

/// The GPUs of all vendors that `device` refers to.
std::vector<const Gpu*> named_gpus(const Machine& machine, std::string_view device) {
  std::vector<const Gpu*> named;
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    const std::vector<const Gpu*> gpus = in_bus_order(machine, vendor.vendor);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (names(device, *gpus[i], i)) named.push_back(gpus[i]);
    }
  }
  return named;
}

/// For a GPU that does not work, or that a mask hides.
Fact why_idle(const Gpu& gpu) {
  const std::string name =
      gpu.name.empty() ? std::string(detect::gpu_vendor(gpu.vendor).title) + " GPU" : gpu.name;
  if (gpu.usable == Presence::present) return {FactCode::gpu_masked, name};
  if (gpu.usable == Presence::unknown) return {FactCode::device_unknown, name};
  return {FactCode::device_unusable,
          name,
          {},
          {gpu.reason.empty() ? "the driver does not work" : gpu.reason},
          gpu.reason_code};
}

bool is_named(const GpuPolicy& policy, const Gpu& gpu, std::size_t index) {
  return std::ranges::any_of(policy.devices,
                             [&](const std::string& device) { return names(device, gpu, index); });
}

/// Newer is larger; an unknown architecture is the oldest.
std::array<unsigned, 3> age_of(const Gpu& gpu) {
  return parse_gpu_arch(gpu).value_or(std::array<unsigned, 3>{});
}

/// The GPUs that the policy selects, in bus order.
std::vector<const Gpu*> select(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy) {
  const std::vector<const Gpu*> all = in_bus_order(machine, vendor);
  std::vector<const Gpu*> gpus;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!works(*all[i])) continue;
    if (policy.rule == GpuRule::named && !is_named(policy, *all[i], i)) continue;
    gpus.push_back(all[i]);
  }
  if (policy.rule == GpuRule::any || policy.rule == GpuRule::named) return gpus;
  const bool card = std::ranges::any_of(gpus, [](const Gpu* gpu) { return !is_integrated(*gpu); });
  if (card) std::erase_if(gpus, [](const Gpu* gpu) { return is_integrated(*gpu); });
  if (policy.rule == GpuRule::first && gpus.size() > 1) gpus.resize(1);
  return gpus;
}

/// One GPU of each architecture among `gpus`.
std::vector<const Gpu*> unlike(const std::vector<const Gpu*>& gpus) {
  std::vector<const Gpu*> result;
  for (const Gpu* gpu : gpus) {
    const bool again =
        std::ranges::any_of(result, [&](const Gpu* other) { return other->arch == gpu->arch; });
    if (!again) result.push_back(gpu);
  }
  return result;
}

}  // namespace

std::optional<GpuPolicy> parse_gpu_policy(std::string_view text) {
  if (text == "all") return GpuPolicy{GpuRule::all, {}};
  if (text == "any") return GpuPolicy{GpuRule::any, {}};
  if (text == "first") return GpuPolicy{GpuRule::first, {}};
  if (!text.starts_with(device_prefix)) return std::nullopt;
  GpuPolicy policy{GpuRule::named, {}};
  std::string_view rest = text.substr(device_prefix.size());
  while (true) {
    const std::size_t comma = rest.find(',');
    std::string_view device = rest.substr(0, comma);
    while (device.starts_with(' ')) device.remove_prefix(1);
    while (device.ends_with(' ')) device.remove_suffix(1);
    if (device.empty()) return std::nullopt;
    policy.devices.emplace_back(device);
    if (comma == std::string_view::npos) return policy;
    rest.remove_prefix(comma + 1);
  }
}

std::string render_gpu_policy(const GpuPolicy& policy) {
  switch (policy.rule) {
    case GpuRule::all:
      return "all";
    case GpuRule::any:
      return "any";
    case GpuRule::first:
      return "first";
    case GpuRule::named:
      break;
  }
  std::string text(device_prefix);
  for (const std::string& device : policy.devices)
    text += (&device == policy.devices.data() ? "" : ",") + device;
  return text;
}

std::vector<std::string> unknown_devices(const Machine& machine, const GpuPolicy& policy) {
  std::vector<std::string> unknown;
  for (const std::string& device : policy.devices) {
    if (named_gpus(machine, device).empty()) unknown.push_back(device);
  }
  return unknown;
}

std::vector<std::pair<std::string, Fact>> idle_devices(const Machine& machine,
                                                       const GpuPolicy& policy) {
  std::vector<std::pair<std::string, Fact>> idle;
  for (const std::string& device : policy.devices) {
    const std::vector<const Gpu*> gpus = named_gpus(machine, device);
    const bool any_works = std::ranges::any_of(gpus, [](const Gpu* gpu) { return works(*gpu); });
    if (!gpus.empty() && !any_works) idle.emplace_back(device, why_idle(*gpus.front()));
  }
  return idle;
}

std::vector<const Gpu*> counted_gpus(const Machine& machine, GpuVendor vendor,
                                     const GpuPolicy& policy) {
  struct Place {
    bool integrated;
    std::array<unsigned, 3> age;
    std::size_t on_bus;
    const Gpu* gpu;
  };
  std::vector<Place> places;
  for (const Gpu* gpu : select(machine, vendor, policy))
    places.push_back({is_integrated(*gpu), age_of(*gpu), places.size(), gpu});
  std::ranges::sort(places, [](const Place& left, const Place& right) {
    if (left.integrated != right.integrated) return right.integrated;
    if (left.age != right.age) return left.age > right.age;
    return left.on_bus < right.on_bus;
  });
  std::vector<const Gpu*> gpus;
  for (const Place& place : places) gpus.push_back(place.gpu);
  return gpus;
}

std::vector<std::string> join_lists(const GpuPolicy& policy,
                                    const std::vector<std::vector<std::string>>& lists) {
  if (lists.size() == 1) return lists.front();
  std::vector<std::string> joined;
  const auto holds = [](const std::vector<std::string>& list, const std::string& value) {
    return std::ranges::find(list, value) != list.end();
  };
  for (const std::vector<std::string>& list : lists) {
    for (const std::string& value : list) {
      if (holds(joined, value)) continue;
      const bool everywhere =
          std::ranges::all_of(lists, [&](const auto& other) { return holds(other, value); });
      if (policy.rule == GpuRule::any || everywhere) joined.push_back(value);
    }
  }
  return joined;
}

std::vector<Machine> device_views(const Machine& machine, const GpuPolicy& policy) {
  if (policy.rule == GpuRule::any) return {};
  std::vector<std::vector<const Gpu*>> by_vendor;
  std::size_t count = 0;
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    by_vendor.push_back(unlike(counted_gpus(machine, vendor.vendor, policy)));
    count = std::max(count, by_vendor.back().size());
  }
  std::vector<Machine> views;
  if (count < 2) return views;
  for (std::size_t i = 0; i < count; ++i) {
    Machine& view = views.emplace_back(machine);
    // GPUs that do not work are kept: they are the reason if no GPU of a vendor counts.
    std::erase_if(view.gpus, works);
    for (const std::vector<const Gpu*>& gpus : by_vendor) {
      if (!gpus.empty()) view.gpus.push_back(*gpus[std::min(i, gpus.size() - 1)]);
    }
  }
  return views;
}

bool policy_matters(const Machine& machine, const GpuPolicy& policy) {
  return std::ranges::any_of(detect::gpu_vendors(), [&](const detect::GpuVendorRow& vendor) {
    const auto working = counted_gpus(machine, vendor.vendor, GpuPolicy{GpuRule::any, {}});
    return unlike(working).size() > 1 ||
           counted_gpus(machine, vendor.vendor, policy).size() != working.size();
  });
}

}  // namespace axle::providers

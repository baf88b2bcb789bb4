#include "providers/gpu_state.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

namespace {

std::optional<unsigned> parse_hex(std::string_view text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, 16);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// "gfx90a" -> {9, 0, 10}: the generation is decimal, minor and stepping one hexadecimal digit each
// (LLVM, "User Guide for AMDGPU Backend").
std::optional<std::array<unsigned, 3>> parse_gfx(std::string_view gfx) {
  if (gfx.empty()) return std::nullopt;
  std::array<unsigned, 3> arch{};
  const char* const digits_end = gfx.data() + gfx.size() - 2;
  const auto read = std::from_chars(gfx.data() + 3, digits_end, arch[0]);
  const auto minor = parse_hex(gfx.substr(gfx.size() - 2, 1));
  const auto step = parse_hex(gfx.substr(gfx.size() - 1));
  if (read.ec != std::errc() || read.ptr != digits_end || !minor || !step) return std::nullopt;
  arch[1] = *minor;
  arch[2] = *step;
  return arch;
}

std::optional<std::array<unsigned, 3>> parse_device_ip(std::string_view text) {
  // Widths of the fields: architecture 10 bits, release 8, revision 6 (Level Zero, device IP
  // version).
  constexpr std::array<unsigned, 3> largest = {1023, 255, 63};
  std::array<unsigned, 3> ip{};
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

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size();
    if (i > 0) text += last ? " and " : ", ";
    text += words[i];
  }
  return text;
}

/// Those that work, and that the policy leaves out.
std::vector<const Gpu*> left_out(const Machine& machine, GpuVendor vendor,
                                 const GpuPolicy& policy) {
  std::vector<const Gpu*> gpus = counted_gpus(machine, vendor, GpuPolicy{GpuRule::any, {}});
  for (const Gpu* counted : counted_gpus(machine, vendor, policy)) std::erase(gpus, counted);
  return gpus;
}

std::string describe_left_out(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy) {
  const std::vector<const Gpu*> gpus = left_out(machine, vendor, policy);
  if (gpus.empty()) return {};
  std::vector<std::string> names;
  for (const Gpu* gpu : gpus) {
    std::string name = gpu->name.empty() ? gpu->arch : gpu->name;
    if (!name.empty() && std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  }
  const bool integrated =
      std::ranges::all_of(gpus, [](const Gpu* gpu) { return is_integrated(*gpu); });
  const bool by_default = policy.rule == GpuRule::all && integrated;
  std::string text = by_default ? " (the integrated unit beside it" : " (not counted";
  if (!names.empty()) text += (by_default ? ", " : ": ") + join(names);
  if (by_default) return text + ", does not count)";
  return text + ", by " + std::string(policy.set_by) + render_gpu_policy(policy) + ")";
}

}  // namespace

std::string describe_no_gpu(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy) {
  const std::string title(vendor_title(vendor));
  if (!left_out(machine, vendor, policy).empty()) {
    return title + " GPU present but not counted by " + std::string(policy.set_by) +
           render_gpu_policy(policy);
  }
  const Gpu* broken = nullptr;
  bool masked = false;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.vendor != vendor) continue;
    if (gpu.masked && gpu.usable == Presence::present) {
      masked = true;
    } else if (broken == nullptr || broken->usable == Presence::unknown) {
      broken = &gpu;
    }
  }
  if (masked) return title + " GPU present but hidden from programs by a device mask";
  if (broken == nullptr) return "no " + title + " GPU";
  if (broken->usable == Presence::unknown) {
    return "it is not known whether the " + title + " GPU is usable";
  }
  const detect::Driver* driver = detect::find_driver(machine, vendor);
  std::string reason = broken->reason;
  if (reason.empty() && driver != nullptr) reason = driver->reason;
  if (reason.empty()) reason = "the driver does not work";
  return title + " GPU present but not usable: " + reason;
}

std::string describe_gpus(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy,
                          const std::vector<std::string>& archs, std::string_view one,
                          std::string_view several) {
  std::vector<std::string> unlike;
  for (const std::string& arch : archs) {
    if (std::ranges::find(unlike, arch) == unlike.end()) unlike.push_back(arch);
  }
  const bool plural = unlike.size() > 1;
  std::string text = plural ? "the GPUs" : "the GPU";
  if (plural)
    text += policy.rule == GpuRule::any ? ", of which one is enough," : ", which all count,";
  text += " " + std::string(plural ? several : one) + " " + join(unlike);
  return text + describe_left_out(machine, vendor, policy);
}

std::optional<std::array<unsigned, 3>> parse_gpu_arch(const Gpu& gpu) {
  switch (gpu.vendor) {
    case GpuVendor::nvidia: {
      const auto capability = parse_major_minor(gpu.arch);
      constexpr unsigned last_minor = 9;
      if (!capability || capability->second > last_minor) return std::nullopt;
      return std::array<unsigned, 3>{capability->first, capability->second, 0};
    }
    case GpuVendor::amd:
      return parse_gfx(gfx_name(gpu.arch));
    case GpuVendor::intel:
      return parse_device_ip(gpu.arch);
  }
  return std::nullopt;
}

std::string gfx_name(std::string_view arch) {
  const std::string_view base = arch.substr(0, arch.find(':'));
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const bool well_formed = base.size() >= 6 && base.size() <= 10 && base.starts_with("gfx") &&
                           std::ranges::all_of(base.substr(3), is_digit);
  return well_formed ? std::string(base) : std::string();
}

bool is_forced(const detect::Driver& driver) {
  return driver.api_source == "override" && driver.usable == Presence::present;
}

std::string_view vendor_title(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::nvidia:
      return "NVIDIA";
    case GpuVendor::amd:
      return "AMD";
    case GpuVendor::intel:
      return "Intel";
  }
  return "";
}

std::optional<std::pair<unsigned, unsigned>> parse_major_minor(std::string_view text) {
  constexpr unsigned largest = 9999;
  std::pair<unsigned, unsigned> version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  if (minor.ec != std::errc() || (minor.ptr != end && *minor.ptr != '.')) return std::nullopt;
  if (version.first > largest || version.second > largest) return std::nullopt;
  return version;
}

}  // namespace axle::providers

#include "machines/overrides.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "detect/nvidia/cuda_drivers.h"
#include "machines/possible_facts.h"

namespace axle::machines {

using detect::Driver;
using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Npu;
using detect::NpuKind;
using detect::Presence;

namespace {

constexpr std::string_view source = "override";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// "12.8" -> {12, 8}; nullopt if a part is not a number.
std::optional<std::vector<unsigned>> parse_parts(std::string_view text) {
  std::vector<unsigned> parts;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    unsigned number = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    if (part.empty() || read.ec != std::errc() || read.ptr != part.data() + part.size())
      return std::nullopt;
    parts.push_back(number);
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

/// The parts joined again, without leading zeros; nullopt unless there are `least` to `most` of
/// them and none is above `largest`.
std::optional<std::string> version_of(std::string_view text, std::size_t least, std::size_t most) {
  constexpr unsigned largest = 9999;
  const auto parts = parse_parts(text);
  if (!parts || parts->size() < least || parts->size() > most) return std::nullopt;
  if (std::ranges::any_of(*parts, [&](unsigned part) { return part > largest; }))
    return std::nullopt;
  return fmt::format("{}", fmt::join(*parts, "."));
}

bool is_gfx(std::string_view text) {
  return text.size() >= 6 && text.size() <= 10 && text.starts_with("gfx") &&
         std::ranges::all_of(text.substr(3), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// The characters that PEP 825 allows in a value.
bool is_value(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

/// Entries separated by commas, semicolons and spaces, as in the published provider.
std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> entries;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(",; \t\n");
    if (end != 0) entries.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return entries;
}

Driver& driver_of(Machine& machine, GpuVendor vendor) {
  const auto found = std::ranges::find(machine.drivers, vendor, &Driver::vendor);
  if (found != machine.drivers.end()) return *found;
  Driver& driver = machine.drivers.emplace_back();
  driver.vendor = vendor;
  return driver;
}

/// `version` empty: the CUDA or ROCm version of the driver is unknown.
void force_api(Machine& machine, GpuVendor vendor, std::string version) {
  Driver& driver = driver_of(machine, vendor);
  driver.api_version = std::move(version);
  driver.api_source = source;
  driver.sources["api_version"] = source;
  driver.usable = driver.api_version.empty() ? Presence::unknown : Presence::present;
  driver.reason_code.clear();
  driver.reason.clear();
}

/// The machine has exactly these GPUs of the vendor; if the architecture is empty, nothing is known
/// about the GPU.
void force_gpus(Machine& machine, GpuVendor vendor, const std::vector<std::string>& archs) {
  std::erase_if(machine.gpus, [&](const Gpu& gpu) { return gpu.vendor == vendor; });
  for (const std::string& arch : archs) {
    Gpu& gpu = machine.gpus.emplace_back();
    gpu.vendor = vendor;
    gpu.arch = arch;
    gpu.usable = arch.empty() ? Presence::unknown : Presence::present;
    gpu.sources["arch"] = source;
  }
}

/// nullopt: the value is applied. Otherwise it is impossible, and these are the nearest possible
/// ones: "9.0, 8.9"; "" if the value is not even well-formed.
using Nearest = std::optional<std::string>;

Nearest force_cuda(Machine& machine, const std::string& value) {
  constexpr std::size_t most_parts = 8;
  if (auto nearest = nearest_api(GpuVendor::nvidia, value)) return nearest;
  auto version = version_of(value, 1, most_parts);
  if (!version) return "";
  if (version->find('.') == std::string::npos) *version += ".0";
  force_api(machine, GpuVendor::nvidia, *std::move(version));
  return std::nullopt;
}

/// The CUDA version of the oldest drivers is unknown.
Nearest force_cuda_driver(Machine& machine, const std::string& value) {
  constexpr std::size_t most_parts = 4;
  if (auto nearest = nearest_driver(GpuVendor::nvidia, value)) return nearest;
  if (!version_of(value, 1, most_parts)) return "";
  force_api(machine, GpuVendor::nvidia, std::string(detect::cuda_of_driver(value)));
  Driver& driver = driver_of(machine, GpuVendor::nvidia);
  driver.kernel_version = value;
  driver.library_version.clear();
  driver.sources["kernel_version"] = source;
  return std::nullopt;
}

Nearest force_sm(Machine& machine, const std::string& value) {
  const std::string capability = version_of(value, 2, 2).value_or(value);
  if (auto nearest = nearest_arch(GpuVendor::nvidia, capability)) return nearest;
  force_gpus(machine, GpuVendor::nvidia, {capability});
  return std::nullopt;
}

Nearest force_gfx(Machine& machine, const std::string& value) {
  const std::vector<std::string> entries = split_list(value);
  for (const std::string& entry : entries) {
    if (auto nearest = nearest_arch(GpuVendor::amd, entry)) return nearest;
    // Target features ("gfx90a:xnack-") are not part of the name.
    if (!is_gfx(entry)) return entry.substr(0, entry.find(':'));
  }
  if (entries.empty()) return "";
  force_gpus(machine, GpuVendor::amd, entries);
  return std::nullopt;
}

Nearest force_rocm(Machine& machine, const std::string& value) {
  if (auto nearest = nearest_api(GpuVendor::amd, value)) return nearest;
  auto version = version_of(value, 2, 3);
  if (!version) return "";
  force_api(machine, GpuVendor::amd, *std::move(version));
  return std::nullopt;
}

Nearest force_device_ip(Machine& machine, const std::string& value) {
  std::vector<std::string> ips;
  for (const std::string& entry : split_list(value)) {
    std::string ip = version_of(entry, 3, 3).value_or(entry);
    if (auto nearest = nearest_arch(GpuVendor::intel, ip)) return nearest;
    ips.push_back(std::move(ip));
  }
  if (ips.empty()) return "";
  force_gpus(machine, GpuVendor::intel, ips);
  return std::nullopt;
}

/// The NPUs of `kind`; adds a working one if there is none.
std::vector<Npu*> npus_of(Machine& machine, NpuKind kind) {
  std::vector<Npu*> npus;
  for (Npu& npu : machine.npus) {
    if (npu.kind == kind) npus.push_back(&npu);
  }
  if (npus.empty()) {
    npus.push_back(&machine.npus.emplace_back());
    npus.front()->kind = kind;
  }
  for (Npu* npu : npus) npu->usable = Presence::present;
  return npus;
}

Nearest force_ascend(Machine& machine, const std::string& value, std::string Npu::* fact,
                     const char* name) {
  if (!is_value(value)) return "";
  for (Npu* npu : npus_of(machine, NpuKind::ascend)) {
    npu->*fact = value;
    npu->sources[name] = source;
  }
  return std::nullopt;
}

Nearest force_npu_type(Machine& machine, const std::string& value) {
  return force_ascend(machine, value, &Npu::type, "type");
}

Nearest force_npu_driver(Machine& machine, const std::string& value) {
  return force_ascend(machine, value, &Npu::driver_version, "driver_version");
}

Nearest force_cann(Machine& machine, const std::string& value) {
  return force_ascend(machine, value, &Npu::toolkit_version, "toolkit_version");
}

/// As in uv, 1, true and yes (in any case) mean that there is one. uv treats everything else as no,
/// including "on".
Nearest force_tpu(Machine& machine, const std::string& given) {
  std::string value = given;
  std::ranges::transform(value, value.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (value == "1" || value == "true" || value == "yes") {
    for (Npu* npu : npus_of(machine, NpuKind::tpu)) npu->sources["usable"] = source;
    return std::nullopt;
  }
  if (value != "0" && value != "false" && value != "no") return "";
  std::erase_if(machine.npus, [](const Npu& npu) { return npu.kind == NpuKind::tpu; });
  return std::nullopt;
}

struct OverrideRow {
  OverrideVariable variable;
  Nearest (*force)(Machine& machine, const std::string& value);
  std::string_view example;
};

// conda's and uv's, which are less specific, before those of the providers themselves.
constexpr OverrideRow rows[] = {
    {{"CONDA_OVERRIDE_CUDA", "nvidia", "the CUDA version that the driver runs (conda's variable)"},
     force_cuda,
     "12.8"},
    {{"UV_CUDA_DRIVER_VERSION", "nvidia", "the NVIDIA driver's version (uv's variable)"},
     force_cuda_driver,
     "570.26"},
    {{"UV_AMD_GPU_ARCHITECTURE", "amd", "the AMD GPU (uv's variable)"}, force_gfx, "gfx942"},
    {{"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION", "nvidia",
      "the CUDA version that the driver runs"},
     force_cuda,
     "12.8"},
    {{"NV_VARIANT_PROVIDER_FORCE_SM_ARCH", "nvidia", "the NVIDIA GPU's compute capability"},
     force_sm,
     "9.0"},
    {{"AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH", "amd", "the AMD GPUs' targets"},
     force_gfx,
     "gfx942,gfx1100"},
    {{"AMD_VARIANT_PROVIDER_FORCE_ROCM_VERSION", "amd", "the system's ROCm version"},
     force_rocm,
     "6.4.1"},
    {{"INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP", "intel", "the Intel GPUs' device IPs"},
     force_device_ip,
     "20.1.0"},
    {{"ASCEND_VARIANT_PROVIDER_FORCE_NPU_TYPE", "ascend", "the type of Ascend NPU"},
     force_npu_type,
     "910b"},
    {{"ASCEND_VARIANT_PROVIDER_FORCE_DRIVER_VERSION", "ascend", "the Ascend driver's version"},
     force_npu_driver,
     "24.1.rc3"},
    {{"ASCEND_VARIANT_PROVIDER_FORCE_CANN_VERSION", "ascend", "the version of CANN"},
     force_cann,
     "8.0.0"},
    {{"TPU_VARIANT_PROVIDER_FORCE_PRESENT", "tpu", "whether there is a TPU: 1, true or yes"},
     force_tpu,
     "true"},
};

constexpr auto variables = [] {
  std::array<OverrideVariable, std::size(rows)> names{};
  std::ranges::transform(rows, names.begin(), &OverrideRow::variable);
  return names;
}();

}  // namespace

std::span<const OverrideVariable> override_variables() { return variables; }

std::vector<GpuVendor> stated_vendors(std::span<const Override> overrides) {
  const auto stated = [&](auto... force) {
    return std::ranges::any_of(rows, [&](const OverrideRow& row) {
      return ((row.force == force) || ...) &&
             std::ranges::any_of(overrides, [&](const Override& given) {
               return given.variable == row.variable.name && !trimmed(given.value).empty();
             });
    });
  };
  std::vector<GpuVendor> vendors;
  if (stated(force_sm) && stated(force_cuda, force_cuda_driver))
    vendors.push_back(GpuVendor::nvidia);
  if (stated(force_gfx)) vendors.push_back(GpuVendor::amd);
  if (stated(force_device_ip)) vendors.push_back(GpuVendor::intel);
  return vendors;
}

Result<void> apply_overrides(Machine& machine, std::span<const Override> overrides,
                             Report& report) {
  for (const OverrideRow& row : rows) {
    for (const Override& given : overrides) {
      const std::string value(trimmed(given.value));
      if (given.variable != row.variable.name || value.empty()) continue;
      const Nearest nearest = row.force(machine, value);
      if (!nearest) {
        report.note(
            fmt::format("{}={} overrides what this machine reports", given.variable, value));
      } else if (nearest->empty()) {
        return fail(ErrorKind::malformed,
                    fmt::format("{}={} is not a valid value", given.variable, value),
                    fmt::format("write it like {}={}, or unset it", given.variable, row.example));
      } else {
        return fail(ErrorKind::malformed,
                    fmt::format("{}={}: no machine has that", given.variable, value),
                    fmt::format("nearest known: {}; or unset it", *nearest));
      }
    }
  }
  return {};
}

}  // namespace axle::machines

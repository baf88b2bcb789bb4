#include "machines/overrides.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "detect/cuda_drivers.h"
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

/// Larger parts are no versions of ROCm, and no compute capabilities.
constexpr unsigned largest_part = 50;

/// As uv has it: a forced CUDA version whose list of lower bounds is longer makes no sense. Counted
/// from 11.0 on, 21 minors and the major alone for each one below the version's own.
constexpr unsigned most_cuda_versions = 1024;
constexpr unsigned first_cuda_major = 11;
constexpr unsigned values_per_cuda_major = 22;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// "12.8" -> {12, 8}; nullopt unless all parts are numbers.
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
std::optional<std::string> version_of(std::string_view text, std::size_t least, std::size_t most,
                                      unsigned largest = largest_part) {
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

/// What PEP 825 allows as a value.
bool is_value(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

/// Entries between commas, semicolons and blanks, as the published provider splits them.
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

/// `version` empty: what the driver runs is not known.
void force_api(Machine& machine, GpuVendor vendor, std::string version) {
  Driver& driver = driver_of(machine, vendor);
  driver.api_version = std::move(version);
  driver.api_source = source;
  driver.sources["api_version"] = source;
  driver.usable = driver.api_version.empty() ? Presence::unknown : Presence::present;
  driver.reason_code.clear();
  driver.reason.clear();
}

/// The machine has exactly these GPUs of the vendor; of one whose architecture is empty nothing is
/// known.
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

bool is_listable_cuda(const std::vector<unsigned>& parts) {
  const unsigned major = parts[0];
  const unsigned minor = parts.size() > 1 ? parts[1] : 0;
  if (major < first_cuda_major) return true;
  return (major - first_cuda_major) * values_per_cuda_major + minor + 2 <= most_cuda_versions;
}

bool force_cuda(Machine& machine, const std::string& value) {
  constexpr std::size_t most_parts = 8;
  auto version = version_of(value, 1, most_parts, most_cuda_versions);
  if (version && !is_listable_cuda(*parse_parts(*version))) version.reset();
  if (version && version->find('.') == std::string::npos) *version += ".0";
  force_api(machine, GpuVendor::nvidia, version.value_or(""));
  return version.has_value();
}

bool force_cuda_driver(Machine& machine, const std::string& value) {
  constexpr unsigned largest = 9999;
  const bool sound =
      version_of(value, 1, 4, largest).has_value() && !nearest_driver(GpuVendor::nvidia, value);
  const std::string cuda(sound ? detect::cuda_of_driver(value) : std::string_view());
  force_api(machine, GpuVendor::nvidia, cuda);
  Driver& driver = driver_of(machine, GpuVendor::nvidia);
  driver.kernel_version = cuda.empty() ? std::string() : value;
  driver.library_version.clear();
  driver.sources["kernel_version"] = source;
  return !cuda.empty();
}

bool force_sm(Machine& machine, const std::string& value) {
  constexpr unsigned last_minor = 9;
  auto capability = version_of(value, 2, 2);
  if (capability && (parse_parts(*capability)->back() > last_minor ||
                     nearest_arch(GpuVendor::nvidia, *capability))) {
    capability.reset();
  }
  force_gpus(machine, GpuVendor::nvidia, {capability.value_or("")});
  // As uv has it: a capability that makes no sense leaves nothing of the namespace.
  if (!capability) force_api(machine, GpuVendor::nvidia, "");
  return capability.has_value();
}

bool force_gfx(Machine& machine, const std::string& value) {
  const std::vector<std::string> entries = split_list(value);
  const bool sound = !entries.empty() && std::ranges::all_of(entries, [](const auto& entry) {
    return is_gfx(entry) && !nearest_arch(GpuVendor::amd, entry);
  });
  force_gpus(machine, GpuVendor::amd, sound ? entries : std::vector<std::string>{""});
  return sound;
}

bool force_rocm(Machine& machine, const std::string& value) {
  const auto version = version_of(value, 2, 3);
  force_api(machine, GpuVendor::amd, version.value_or(""));
  return version.has_value();
}

bool force_device_ip(Machine& machine, const std::string& value) {
  std::vector<std::string> ips;
  bool sound = true;
  for (const std::string& entry : split_list(value)) {
    constexpr unsigned largest = 1023;
    auto ip = version_of(entry, 3, 3, largest);
    sound = sound && ip && !nearest_arch(GpuVendor::intel, *ip);
    if (ip) ips.push_back(std::move(*ip));
  }
  sound = sound && !ips.empty();
  force_gpus(machine, GpuVendor::intel, sound ? ips : std::vector<std::string>{""});
  return sound;
}

/// The NPUs of `kind`; one that works, where there is none.
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

bool force_ascend(Machine& machine, const std::string& value, std::string Npu::* fact,
                  const char* name) {
  const bool sound = is_value(value);
  for (Npu* npu : npus_of(machine, NpuKind::ascend)) {
    npu->*fact = sound ? value : std::string();
    npu->sources[name] = source;
  }
  return sound;
}

bool force_npu_type(Machine& machine, const std::string& value) {
  return force_ascend(machine, value, &Npu::type, "type");
}

bool force_npu_driver(Machine& machine, const std::string& value) {
  return force_ascend(machine, value, &Npu::driver_version, "driver_version");
}

bool force_cann(Machine& machine, const std::string& value) {
  return force_ascend(machine, value, &Npu::toolkit_version, "toolkit_version");
}

/// As uv has it: 1, true and yes, in capitals too, say that there is one, all else that there is
/// none.
bool force_tpu(Machine& machine, const std::string& given) {
  std::string value = given;
  std::ranges::transform(value, value.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool here = value == "1" || value == "true" || value == "yes";
  if (here) {
    for (Npu* npu : npus_of(machine, NpuKind::tpu)) npu->sources["usable"] = source;
  } else {
    std::erase_if(machine.npus, [](const Npu& npu) { return npu.kind == NpuKind::tpu; });
  }
  return here || value == "0" || value == "false" || value == "no";
}

struct Row {
  OverrideVariable variable;
  bool (*force)(Machine& machine, const std::string& value);  ///< false: the value makes no sense
  std::string_view example;
};

// conda's and uv's, which say less, before those of the providers themselves.
constexpr Row rows[] = {
    {{"CONDA_OVERRIDE_CUDA", "nvidia",
      "the CUDA version that the driver is taken to run, as conda has it"},
     force_cuda,
     "12.8"},
    {{"UV_CUDA_DRIVER_VERSION", "nvidia", "the NVIDIA driver, as uv has it"},
     force_cuda_driver,
     "570.26"},
    {{"UV_AMD_GPU_ARCHITECTURE", "amd", "the AMD GPU, as uv has it"}, force_gfx, "gfx942"},
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
    {{"ASCEND_VARIANT_PROVIDER_FORCE_NPU_TYPE", "ascend", "the kind of Ascend NPU"},
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
  std::ranges::transform(rows, names.begin(), &Row::variable);
  return names;
}();

}  // namespace

std::span<const OverrideVariable> override_variables() { return variables; }

std::vector<GpuVendor> stated_vendors(std::span<const Override> overrides) {
  const auto stated = [&](auto... force) {
    return std::ranges::any_of(rows, [&](const Row& row) {
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

void apply_overrides(Machine& machine, std::span<const Override> overrides, Report& report) {
  for (const Row& row : rows) {
    for (const Override& given : overrides) {
      const std::string value(trimmed(given.value));
      if (given.variable != row.variable.name || value.empty()) continue;
      if (row.force(machine, value)) {
        report.note(
            fmt::format("{}={} takes the place of what this machine says", given.variable, value));
      } else {
        report.warn(
            fmt::format("{}={} makes no sense: nothing is chosen by it", given.variable, value),
            fmt::format("it wants something like {}={}", given.variable, row.example));
      }
    }
  }
}

}  // namespace axle::machines

#include "providers/cuda_code.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "detect/gpu_vendors.h"
#include "providers/cpu_flags.h"
#include "providers/gpu_state.h"
#include "providers/nvidia_state.h"

namespace axle::providers {

using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view gpu = "gpu";
constexpr std::string_view cuda_code = "cuda_code";
constexpr std::string_view cuda_code_or_jit = "cuda_code_or_jit";
constexpr std::string_view compressed_code = "cuda_compressed_code";

/// Every compute capability that code is compiled for (NVIDIA, CUDA GPUs; nvcc --list-gpu-arch of
/// CUDA 11 to 13), newest first.
constexpr MajorMinor capabilities[] = {
    {12, 1}, {12, 0}, {11, 0}, {10, 3}, {10, 1}, {10, 0}, {9, 0}, {8, 9}, {8, 7}, {8, 6}, {8, 0},
    {7, 5},  {7, 2},  {7, 0},  {6, 2},  {6, 1},  {6, 0},  {5, 3}, {5, 2}, {5, 0}, {3, 7}, {3, 5},
};

/// The first with instructions of its own (sm_90a), and the first with instructions of a family
/// (sm_100f).
constexpr MajorMinor first_specific = {9, 0};
constexpr MajorMinor first_family = {10, 0};

/// The CUDA versions of drivers that can be requested; the list of the published NVIDIA provider.
constexpr unsigned first_cuda_major = 11;
constexpr unsigned last_cuda_major = 15;
constexpr unsigned last_cuda_minor = 20;

/// Drivers from this CUDA version on (R550) load code that nvcc compressed with
/// --compress-mode=size or balance (CUDA 12.8 release notes; older ones read the image as broken).
constexpr MajorMinor first_compressed = {12, 4};

bool is_known(MajorMinor capability) {
  return std::ranges::find(capabilities, capability) != std::end(capabilities);
}

bool executes(MajorMinor device, MajorMinor code) {
  if (device == code) return true;
  if (is_tegra(device) || is_tegra(code)) return is_thor(device) && is_thor(code);
  return device.first == code.first && device.second >= code.second;
}

/// Code for exactly one architecture, "90a".
bool executes_specific(MajorMinor device, MajorMinor code) {
  return code >= first_specific && (device == code || (is_thor(device) && is_thor(code)));
}

/// Code for an architecture and later ones of its family, "100f". Families are only known for known
/// architectures.
bool executes_family(MajorMinor device, MajorMinor code) {
  return code >= first_family && is_known(device) && executes(device, code);
}

std::string digits(MajorMinor number) {
  return std::to_string(number.first) + std::to_string(number.second);
}

/// The values of `kind` ("_real", "_virtual") for code that is bound to its architecture or family.
void add_bound_code(std::vector<std::string>& values, MajorMinor device, std::string_view kind) {
  if (!is_known(device) && device >= first_specific)
    values.push_back(digits(device) + "a" + std::string(kind));
  for (const MajorMinor& code : capabilities) {
    if (executes_specific(device, code)) values.push_back(digits(code) + "a" + std::string(kind));
  }
  for (const MajorMinor& code : capabilities) {
    if (executes_family(device, code)) values.push_back(digits(code) + "f" + std::string(kind));
  }
}

std::vector<std::string> compiled_code(MajorMinor device) {
  std::vector<std::string> values;
  add_bound_code(values, device, "_real");
  if (!is_known(device)) values.push_back(digits(device) + "_real");
  for (const MajorMinor& code : capabilities) {
    if (executes(device, code)) values.push_back(digits(code) + "_real");
  }
  return values;
}

/// What the driver can compile: any older PTX, but bound PTX only where bound code runs.
void add_ptx(std::vector<std::string>& values, MajorMinor device) {
  add_bound_code(values, device, "_virtual");
  if (!is_known(device)) values.push_back(digits(device) + "_virtual");
  for (const MajorMinor& ptx : capabilities) {
    if (ptx <= device) values.push_back(digits(ptx) + "_virtual");
  }
}

/// All values of `kind`, bound code first.
void add_known_code(std::vector<std::string>& values, std::string_view kind) {
  for (const MajorMinor& code : capabilities) {
    if (code >= first_specific) values.push_back(digits(code) + "a" + std::string(kind));
  }
  for (const MajorMinor& code : capabilities) {
    if (code >= first_family) values.push_back(digits(code) + "f" + std::string(kind));
  }
  for (const MajorMinor& code : capabilities) values.push_back(digits(code) + std::string(kind));
}

/// "M.m" down to "11.0"; for a driver newer than the list, the whole list.
std::vector<std::string> toolkits_up_to(MajorMinor driver) {
  std::vector<std::string> values;
  for (unsigned major = std::min(driver.first, last_cuda_major); major >= first_cuda_major;
       --major) {
    const unsigned newest =
        major == driver.first ? std::min(driver.second, last_cuda_minor) : last_cuda_minor;
    for (unsigned minor = newest + 1; minor-- > 0;)
      values.push_back(render_version({major, minor}));
  }
  return values;
}

std::optional<MajorMinor> driver_cuda(const Machine& machine, const GpuPolicy& policy) {
  const detect::Driver* driver = counted_nvidia_driver(machine, policy);
  const auto cuda = driver == nullptr ? std::nullopt : parse_major_minor(driver->api_version);
  const bool counts = cuda && cuda->first >= first_cuda_major && is_cuda_version(*cuda, *driver);
  return counts ? cuda : std::nullopt;
}

/// "90a_real" -> "compiled code for 9.0 alone", "80_virtual" -> "PTX for 8.0"; empty if the value
/// is not about code.
std::string describe_code(std::string_view value) {
  const std::size_t mark = value.find('_');
  if (mark == std::string_view::npos) return {};
  std::string_view number = value.substr(0, mark);
  std::string bound;
  if (number.ends_with('a')) bound = " alone";
  if (number.ends_with('f')) bound = " and later ones of its family";
  if (!bound.empty()) number.remove_suffix(1);
  if (number.size() < 2) return {};
  const std::string minor(number.substr(number.size() - 1));
  const auto code =
      parse_major_minor(std::string(number.substr(0, number.size() - 1)) + "." + minor);
  if (!code) return {};
  return (value.ends_with("_real") ? "compiled code for " : "PTX for ") + render_version(*code) +
         bound;
}

/// For a toolkit whose PTX a build has. Requires a counted NVIDIA GPU.
Fact about_ptx(const Machine& machine, const GpuPolicy& policy, std::string_view value) {
  const auto cuda = driver_cuda(machine, policy);
  if (!cuda) return {FactCode::value_unknown, "CUDA version of the driver", {std::string(value)}};
  const detect::Driver& driver = *counted_nvidia_driver(machine, policy);
  return {FactCode::cuda_ptx,
          driver_title(driver),
          {std::string(value)},
          {render_version(*cuda)},
          driver.api_source};
}

Facts facts_of_cuda_code(const Machine& machine, const GpuPolicy& policy, std::string_view value) {
  const auto devices = counted_capabilities(machine, policy);
  if (devices.empty()) return {why_no_gpu(machine, GpuVendor::nvidia, policy)};
  std::string code = describe_code(value);
  if (code.empty()) return {about_ptx(machine, policy, value)};
  Facts facts = what_capabilities_are(machine, policy, std::move(code));
  if (devices.front() && is_tegra(*devices.front())) facts.push_back({FactCode::own_code_only});
  return facts;
}

Fact about_compression(const Machine& machine, const GpuPolicy& policy) {
  const detect::Driver* driver = counted_nvidia_driver(machine, policy);
  if (driver == nullptr) return why_no_gpu(machine, GpuVendor::nvidia, policy);
  const std::string needed = render_version(first_compressed);
  const auto cuda = driver_cuda(machine, policy);
  if (!cuda) return {FactCode::value_unknown, "CUDA version of the driver", {needed}};
  return {FactCode::cuda_compression,
          driver_title(*driver),
          {needed},
          {render_version(*cuda)},
          driver->api_source};
}

}  // namespace

Features supported_gpu_code(const Machine& machine, const GpuPolicy& policy) {
  Features features;
  Feature working{std::string(gpu), true, {}};
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    if (!counted_gpus(machine, vendor.vendor, policy).empty())
      working.values.emplace_back(vendor.word);
  }
  if (!working.values.empty()) features.push_back(std::move(working));
  std::vector<std::vector<std::string>> code;
  std::vector<std::vector<std::string>> code_or_jit;
  const auto cuda = driver_cuda(machine, policy);
  for (const auto& device : counted_capabilities(machine, policy)) {
    code.push_back(device ? compiled_code(*device) : std::vector<std::string>());
    code_or_jit.push_back(code.back());
    if (!device) continue;
    add_ptx(code.back(), *device);
    if (cuda) std::ranges::move(toolkits_up_to(*cuda), std::back_inserter(code_or_jit.back()));
  }
  for (auto& [name, lists] : {std::pair(cuda_code, &code), {cuda_code_or_jit, &code_or_jit}}) {
    Feature feature{std::string(name), true, join_lists(policy, *lists)};
    if (!feature.values.empty()) features.push_back(std::move(feature));
  }
  if (cuda && *cuda >= first_compressed)
    features.push_back({std::string(compressed_code), false, {"on"}});
  return features;
}

Features known_gpu_code() {
  Feature working{std::string(gpu), true, {}};
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors())
    working.values.emplace_back(vendor.word);
  Feature code{std::string(cuda_code), true, {}};
  add_known_code(code.values, "_real");
  Feature code_or_jit{std::string(cuda_code_or_jit), true, code.values};
  add_known_code(code.values, "_virtual");
  std::ranges::move(toolkits_up_to({last_cuda_major, last_cuda_minor}),
                    std::back_inserter(code_or_jit.values));
  return {std::move(working),
          std::move(code),
          std::move(code_or_jit),
          {std::string(compressed_code), false, {"on"}}};
}

bool is_gpu_code_feature(std::string_view feature) {
  return feature == gpu || feature == cuda_code || feature == cuda_code_or_jit ||
         feature == compressed_code;
}

Facts gpu_code_facts(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                     std::string_view value) {
  if (feature == compressed_code) return {about_compression(machine, policy)};
  if (feature != gpu) return facts_of_cuda_code(machine, policy, value);
  const auto vendor = detect::parse_vendor(value);
  if (!vendor) return {unknown_property("axle", feature, value)};
  const auto gpus = counted_gpus(machine, *vendor, policy);
  if (gpus.empty()) return {why_no_gpu(machine, *vendor, policy)};
  const std::string& name = gpus.front()->name;
  return {{FactCode::device_works, name.empty() ? gpu_title(*vendor) : name}};
}

}  // namespace axle::providers

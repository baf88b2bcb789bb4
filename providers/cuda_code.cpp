#include "providers/cuda_code.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "providers/gpu_state.h"
#include "providers/nvidia_state.h"

namespace axle::providers {

using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view gpu = "gpu";
constexpr std::string_view cuda_code = "cuda_code";
constexpr std::string_view cuda_code_or_jit = "cuda_code_or_jit";

constexpr GpuVendor vendors[] = {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel};

struct Capability {
  MajorMinor number;
  bool tegra = false;  ///< integrated into a Tegra system on chip
};

/// Every compute capability that code is compiled for (NVIDIA, CUDA GPUs; nvcc --list-gpu-arch of
/// CUDA 11 to 13), newest first.
constexpr Capability capabilities[] = {
    {{12, 1}},      {{12, 0}}, {{11, 0}, true}, {{10, 3}}, {{10, 1}, true}, {{10, 0}},
    {{9, 0}},       {{8, 9}},  {{8, 7}, true},  {{8, 6}},  {{8, 0}},        {{7, 5}},
    {{7, 2}, true}, {{7, 0}},  {{6, 2}, true},  {{6, 1}},  {{6, 0}},        {{5, 3}, true},
    {{5, 2}},       {{5, 0}},  {{3, 7}},        {{3, 5}},
};

/// Drivers of these CUDA versions can be asked for; as the published NVIDIA provider has them.
constexpr unsigned first_cuda_major = 11;
constexpr unsigned last_cuda_major = 15;
constexpr unsigned last_cuda_minor = 20;

bool is_tegra(MajorMinor number) {
  return std::ranges::any_of(
      capabilities, [&](const Capability& known) { return known.number == number && known.tegra; });
}

/// Thor: 10.1 until CUDA 12, 11.0 from CUDA 13 on.
bool is_thor(MajorMinor number) {
  return number == MajorMinor(10, 1) || number == MajorMinor(11, 0);
}

bool executes(MajorMinor device, MajorMinor code) {
  if (device == code) return true;
  if (is_tegra(device) || is_tegra(code)) return is_thor(device) && is_thor(code);
  return device.first == code.first && device.second >= code.second;
}

std::string digits(MajorMinor number) {
  return std::to_string(number.first) + std::to_string(number.second);
}

std::vector<std::string> compiled_code(MajorMinor device) {
  std::vector<std::string> values;
  const bool known =
      std::ranges::find(capabilities, device, &Capability::number) != std::end(capabilities);
  if (!known) values.push_back(digits(device) + "_real");
  for (const Capability& code : capabilities) {
    if (executes(device, code.number)) values.push_back(digits(code.number) + "_real");
  }
  return values;
}

/// "M.m" down to "11.0".
std::vector<std::string> toolkits_up_to(MajorMinor driver) {
  std::vector<std::string> values;
  for (unsigned major = driver.first; major >= first_cuda_major; --major) {
    const unsigned newest = major == driver.first ? driver.second : last_cuda_minor;
    for (unsigned minor = newest + 1; minor-- > 0;)
      values.push_back(render_version({major, minor}));
  }
  return values;
}

std::optional<MajorMinor> driver_cuda(const Machine& machine, const GpuPolicy& policy) {
  const detect::Driver* driver = counted_nvidia_driver(machine, policy);
  const auto cuda = driver == nullptr ? std::nullopt : parse_major_minor(driver->api_version);
  const bool known = cuda && cuda->first >= first_cuda_major && cuda->first <= last_cuda_major &&
                     cuda->second <= last_cuda_minor;
  return known ? cuda : std::nullopt;
}

std::optional<MajorMinor> parse_code(std::string_view value) {
  const std::size_t mark = value.find('_');
  if (mark == std::string_view::npos || mark < 2) return std::nullopt;
  std::string number(value.substr(0, mark - 1));
  return parse_major_minor(number + "." + value[mark - 1]);
}

std::string describe_cuda_code(const Machine& machine, const GpuPolicy& policy,
                               std::string_view value) {
  const auto devices = counted_capabilities(machine, policy);
  if (devices.empty()) return describe_no_gpu(machine, GpuVendor::nvidia, policy);
  std::string text = describe_capabilities_of_gpus(machine, policy);
  if (devices.size() == 1 && !devices.front()) return text;
  if (devices.front() && is_tegra(*devices.front()))
    text += " (integrated: compiled code must be its own)";
  const auto code = parse_code(value);
  if (!code) {
    const auto cuda = driver_cuda(machine, policy);
    return text +
           (cuda ? ", and its driver compiles PTX of CUDA up to " + render_version(*cuda)
                 : ", and it is not known which PTX its driver compiles") +
           ", the build has PTX of CUDA " + std::string(value);
  }
  const bool compiled = value.ends_with("_real");
  return text + ", the build has " + (compiled ? "compiled code" : "PTX") + " for " +
         render_version(*code);
}

}  // namespace

Features supported_gpu_code(const Machine& machine, const GpuPolicy& policy) {
  Features features;
  Feature working{std::string(gpu), true, {}};
  for (const GpuVendor vendor : vendors) {
    if (!counted_gpus(machine, vendor, policy).empty())
      working.values.emplace_back(render_vendor(vendor));
  }
  if (working.values.empty()) return features;
  features.push_back(std::move(working));
  std::vector<std::vector<std::string>> code;
  std::vector<std::vector<std::string>> code_or_jit;
  const auto cuda = driver_cuda(machine, policy);
  for (const auto& device : counted_capabilities(machine, policy)) {
    code.push_back(device ? compiled_code(*device) : std::vector<std::string>());
    code_or_jit.push_back(code.back());
    if (!device) continue;
    for (const Capability& ptx : capabilities) {
      if (ptx.number <= *device) code.back().push_back(digits(ptx.number) + "_virtual");
    }
    if (cuda) std::ranges::move(toolkits_up_to(*cuda), std::back_inserter(code_or_jit.back()));
  }
  for (auto& [name, lists] : {std::pair(cuda_code, &code), {cuda_code_or_jit, &code_or_jit}}) {
    Feature feature{std::string(name), true, join_lists(policy, *lists)};
    if (!feature.values.empty()) features.push_back(std::move(feature));
  }
  return features;
}

Features known_gpu_code() {
  Feature working{std::string(gpu), true, {}};
  for (const GpuVendor vendor : vendors) working.values.emplace_back(render_vendor(vendor));
  Feature code{std::string(cuda_code), true, {}};
  for (const Capability& known : capabilities)
    code.values.push_back(digits(known.number) + "_real");
  Feature code_or_jit{std::string(cuda_code_or_jit), true, code.values};
  for (const Capability& known : capabilities)
    code.values.push_back(digits(known.number) + "_virtual");
  std::ranges::move(toolkits_up_to({last_cuda_major, last_cuda_minor}),
                    std::back_inserter(code_or_jit.values));
  return {std::move(working), std::move(code), std::move(code_or_jit)};
}

bool is_gpu_code_feature(std::string_view feature) {
  return feature == gpu || feature == cuda_code || feature == cuda_code_or_jit;
}

std::string gpu_code_fact(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                          std::string_view value) {
  if (feature != gpu) return describe_cuda_code(machine, policy, value);
  for (const GpuVendor vendor : vendors) {
    if (detect::render_vendor(vendor) != value) continue;
    const auto gpus = counted_gpus(machine, vendor, policy);
    if (gpus.empty()) return describe_no_gpu(machine, vendor, policy);
    const std::string& name = gpus.front()->name;
    return "there is a working " +
           (name.empty() ? std::string(vendor_title(vendor)) + " GPU" : name);
  }
  return "no GPUs of " + std::string(value) + " are known";
}

}  // namespace axle::providers

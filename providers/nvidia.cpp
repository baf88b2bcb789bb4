// Namespace `nvidia`, as nvidia-variant-provider 0.0.1 and 0.0.2 define it: the CUDA versions that
// the driver runs, as bounds, and the code that the GPUs execute. The published provider only
// considers the newest GPU; here the policy selects among different ones.

#include <algorithm>
#include <utility>

#include "providers/cpu_flags.h"
#include "providers/gpu_state.h"
#include "providers/namespaces.h"
#include "providers/nvidia_state.h"

namespace axle::providers {

using detect::Driver;
using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view ns = "nvidia";

using Version = MajorMinor;

// The published list: CUDA 11.0 to 15.20 and the architectures 5.0 to 12.9.
constexpr unsigned first_major = 11;
constexpr unsigned last_major = 15;
constexpr unsigned last_minor = 20;
constexpr unsigned first_sm_major = 5;
constexpr unsigned last_sm_major = 12;
constexpr unsigned last_sm_minor = 9;

constexpr std::string_view lower_bound = "cuda_version_lower_bound";
constexpr std::string_view upper_bound = "cuda_version_upper_bound";
constexpr std::string_view sm_arch = "sm_arch";

// "M.from" … "M.down_to", then "M" itself where `whole`.
void add_minors(std::vector<std::string>& values, unsigned major, unsigned from, unsigned down_to,
                bool whole) {
  for (unsigned minor = from + 1; minor-- > down_to;)
    values.push_back(render_version({major, minor}));
  if (whole) values.push_back(std::to_string(major));
}

Feature lower_bounds(Version driver) {
  Feature feature{std::string(lower_bound), false, {}};
  if (driver.first >= first_major) add_minors(feature.values, driver.first, driver.second, 0, true);
  for (unsigned major = driver.first; major-- > first_major;) {
    add_minors(feature.values, major, last_minor, 0, true);
  }
  return feature;
}

Feature upper_bounds(Version driver) {
  Feature feature{std::string(upper_bound), false, {}};
  for (unsigned major = last_major; major > driver.first; --major) {
    add_minors(feature.values, major, last_minor, 0, true);
  }
  if (driver.first <= last_major && driver.second < last_minor) {
    add_minors(feature.values, driver.first, last_minor, driver.second + 1, false);
  }
  return feature;
}

std::vector<std::string> architectures(const std::optional<Version>& gpu) {
  std::vector<std::string> values;
  if (!gpu || gpu->first < first_sm_major) return values;
  const std::string major = std::to_string(gpu->first);
  for (unsigned minor = gpu->second + 1; minor-- > 0;) {
    values.push_back(major + std::to_string(minor) + "_real");
  }
  values.push_back(major + "0_virtual");
  return values;
}

Feature joined_architectures(const Machine& machine, const GpuPolicy& policy) {
  std::vector<std::vector<std::string>> lists;
  for (const auto& gpu : counted_capabilities(machine, policy)) lists.push_back(architectures(gpu));
  return {std::string(sm_arch), true, join_lists(policy, lists)};
}

Features supported(const Machine& machine, const GpuPolicy& policy) {
  const Driver* driver = counted_nvidia_driver(machine, policy);
  if (driver == nullptr) return {};
  const auto cuda = parse_major_minor(driver->api_version);
  if (!cuda || !is_cuda_version(*cuda, *driver)) return {};
  Features features;
  if (Feature lower = lower_bounds(*cuda); !lower.values.empty())
    features.push_back(std::move(lower));
  if (Feature upper = upper_bounds(*cuda); !upper.values.empty()) {
    features.push_back(std::move(upper));
  }
  if (Feature code = joined_architectures(machine, policy); !code.values.empty()) {
    features.push_back(std::move(code));
  }
  return features;
}

Features all() {
  std::vector<std::string> versions;
  for (unsigned major = last_major; major >= first_major; --major) {
    add_minors(versions, major, last_minor, 0, true);
  }
  Feature code{std::string(sm_arch), true, {}};
  for (const std::string_view kind : {"_real", "_virtual"}) {
    for (unsigned major = last_sm_major; major >= first_sm_major; --major) {
      for (unsigned minor = last_sm_minor + 1; minor-- > 0;) {
        code.values.push_back(std::to_string(major) + std::to_string(minor) + std::string(kind));
      }
    }
  }
  return {{std::string(lower_bound), false, versions},
          {std::string(upper_bound), false, versions},
          std::move(code)};
}

Fact about_cuda(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
                std::string_view value) {
  const Driver* driver = counted_nvidia_driver(machine, policy);
  if (driver == nullptr) return why_no_gpu(machine, GpuVendor::nvidia, policy);
  const std::string needed(value);
  const auto cuda = parse_major_minor(driver->api_version);
  if (!cuda) return {FactCode::value_unknown, "CUDA version of " + driver_title(*driver), {needed}};
  const FactCode code = !is_cuda_version(*cuda, *driver) ? FactCode::cuda_too_old
                        : feature == lower_bound         ? FactCode::cuda_lower_bound
                                                         : FactCode::cuda_upper_bound;
  return {code, driver_title(*driver), {needed}, {render_version(*cuda)}, driver->api_source};
}

// "90_real" -> "compiled code for 9.0", "80_virtual" -> "PTX for 8.0"
std::string describe_code(std::string_view value) {
  const std::size_t mark = value.find('_');
  if (mark == std::string_view::npos || mark < 2) return std::string(value);
  const std::string version =
      std::string(value.substr(0, mark - 1)) + "." + std::string(value.substr(mark - 1, 1));
  return (value.substr(mark) == "_virtual" ? "PTX for " : "compiled code for ") + version;
}

Facts facts(const Machine& machine, const GpuPolicy& policy, std::string_view feature,
            std::string_view value) {
  if (feature == lower_bound || feature == upper_bound)
    return {about_cuda(machine, policy, feature, value)};
  if (feature != sm_arch) return {unknown_property(ns, feature, value)};
  if (counted_gpus(machine, GpuVendor::nvidia, policy).empty())
    return {why_no_gpu(machine, GpuVendor::nvidia, policy)};
  return what_capabilities_are(machine, policy, describe_code(value));
}

constexpr std::string_view plugin_apis[] = {"nvidia_variant_provider.plugin:NvidiaVariantPlugin"};
// uv bundles 0.0.1, torch requires 0.0.2 since its release 2.9. Between the two only the way to
// call a plugin changed (wheelnext/nvidia-variant-provider, tags v0.0.1 and v0.0.2).
constexpr std::string_view same_versions[] = {"0.0.2"};

}  // namespace

Provider nvidia_provider() {
  return {ns,           "nvidia-variant-provider", "0.0.1", plugin_apis, {}, supported, all, facts,
          same_versions};
}

}  // namespace axle::providers

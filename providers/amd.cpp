// Namespace `amd`, as amd-variant-provider 0.0.2 defines it: the gfx names of the GPUs and the one
// ROCm version of the system. The published provider drops every GPU as soon as one of them (a
// graphics unit beside the cards) is not in its list; here each counts for itself.

#include <algorithm>
#include <charconv>
#include <tuple>

#include "providers/gpu_state.h"
#include "providers/namespaces.h"

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view gfx_arch = "gfx_arch";
constexpr std::string_view rocm_version = "rocm_version";

// The published list, then the targets of AMD's own builds that it lacks.
constexpr std::string_view known_gfx[] = {
    "gfx900",  "gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx1030", "gfx1100",
    "gfx1101", "gfx1102", "gfx1200", "gfx1201", "gfx90c",  "gfx950",  "gfx1010",
    "gfx1011", "gfx1012", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035",
    "gfx1036", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
};

// "gfx942:sramecc+:xnack-" -> "gfx942"; empty unless it is a gfx name.
std::string base_target(std::string_view arch) {
  const std::string_view base = arch.substr(0, arch.find(':'));
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const bool well_formed = base.size() >= 6 && base.size() <= 10 && base.starts_with("gfx") &&
                           std::ranges::all_of(base.substr(3), is_digit);
  return well_formed ? std::string(base) : std::string();
}

// "gfx90a" -> (9, "0a"): the generation is decimal, minor and stepping one hexadecimal digit each.
std::pair<unsigned, std::string_view> generation(std::string_view gfx) {
  unsigned major = 0;
  std::from_chars(gfx.data() + 3, gfx.data() + gfx.size() - 2, major);
  return {major, gfx.substr(gfx.size() - 2)};
}

// Cards before integrated units, newer before older: the order of the bus decides nothing.
std::vector<std::string> gfx_names(const Machine& machine) {
  std::vector<std::pair<bool, std::string>> found;
  for (const Gpu* gpu : counted_gpus(machine, GpuVendor::amd)) {
    if (std::string gfx = base_target(gpu->arch); !gfx.empty()) {
      found.emplace_back(gpu->integrated, std::move(gfx));
    }
  }
  std::ranges::sort(found, [](const auto& left, const auto& right) {
    if (left.first != right.first) return right.first;
    return generation(left.second) > generation(right.second);
  });
  std::vector<std::string> names;
  for (auto& [integrated, gfx] : found) {
    if (std::ranges::find(names, gfx) == names.end()) names.push_back(std::move(gfx));
  }
  return names;
}

std::string system_rocm(const Machine& machine) {
  if (counted_gpus(machine, GpuVendor::amd).empty()) return {};
  const detect::Driver* driver = detect::find_driver(machine, GpuVendor::amd);
  const auto version = driver == nullptr ? std::nullopt : parse_major_minor(driver->api_version);
  if (!version) return {};
  return std::to_string(version->first) + "." + std::to_string(version->second);
}

Features supported(const Machine& machine) {
  Features features;
  if (std::vector<std::string> names = gfx_names(machine); !names.empty()) {
    features.push_back({std::string(gfx_arch), true, std::move(names)});
  }
  if (std::string version = system_rocm(machine); !version.empty()) {
    features.push_back({std::string(rocm_version), false, {std::move(version)}});
  }
  return features;
}

Features all() {
  Feature rocm{std::string(rocm_version), false, {}};
  for (unsigned minor = 15; minor-- > 0;) rocm.values.push_back("7." + std::to_string(minor));
  rocm.values.insert(rocm.values.end(), {"6.4", "6.3", "6.2", "6.1", "6.0"});
  return {std::move(rocm),
          {std::string(gfx_arch), true, {std::begin(known_gfx), std::end(known_gfx)}}};
}

std::string fact(const Machine& machine, std::string_view feature, std::string_view value) {
  if (feature != gfx_arch && feature != rocm_version) {
    return "the provider of amd knows no feature " + std::string(feature);
  }
  if (counted_gpus(machine, GpuVendor::amd).empty()) {
    return describe_no_gpu(machine, GpuVendor::amd);
  }
  if (feature == rocm_version) {
    const std::string version = system_rocm(machine);
    if (version.empty()) return "it is not known which ROCm version is installed";
    return "the system has ROCm " + version + ", the build is for " + std::string(value);
  }
  const std::vector<std::string> names = gfx_names(machine);
  if (names.empty()) return "it is not known which gfx target the AMD GPU is";
  std::string text = names.size() == 1 ? "the GPU is " : "the GPUs are ";
  for (const std::string& name : names) text += (&name == names.data() ? "" : ", ") + name;
  return text + ", the build has code for " + std::string(value);
}

constexpr std::string_view plugin_apis[] = {"amd_variant_provider.plugin:AMDVariantPlugin"};

}  // namespace

Provider amd_provider() {
  return {"amd", "amd-variant-provider", "0.0.2", plugin_apis, {}, supported, all, fact};
}

}  // namespace axle::providers

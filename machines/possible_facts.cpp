#include "machines/possible_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "detect/nvidia/cuda_drivers.h"
#include "machines/gpu_models.h"
#include "machines/nearest.h"

namespace axle::machines {

namespace {

using detect::GpuVendor;
using Parts = std::vector<unsigned>;

// NVIDIA, CUDA C++ programming guide and legacy CUDA GPUs: every compute capability there was.
constexpr std::string_view capabilities[] = {
    "1.0", "1.1", "1.2", "1.3",  "2.0",  "2.1",  "3.0",  "3.2",  "3.5", "3.7", "5.0",
    "5.2", "5.3", "6.0", "6.1",  "6.2",  "7.0",  "7.2",  "7.5",  "8.0", "8.6", "8.7",
    "8.8", "8.9", "9.0", "10.0", "10.1", "10.3", "11.0", "12.0", "12.1"};
constexpr unsigned first_sold_capability = 10;

// LLVM, User Guide for AMDGPU Backend, "Processors".
constexpr std::string_view gfx_names[] = {
    "gfx600",  "gfx601",  "gfx602",  "gfx700",  "gfx701",  "gfx702",  "gfx703",
    "gfx704",  "gfx705",  "gfx801",  "gfx802",  "gfx803",  "gfx805",  "gfx810",
    "gfx900",  "gfx902",  "gfx904",  "gfx906",  "gfx908",  "gfx909",  "gfx90a",
    "gfx90c",  "gfx940",  "gfx941",  "gfx942",  "gfx950",  "gfx1010", "gfx1011",
    "gfx1012", "gfx1013", "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034",
    "gfx1035", "gfx1036", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150",
    "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201", "gfx1250", "gfx1251"};

// Intel, compute-runtime device_ip: architecture in 10 bits, release in 8, revision in 6. The
// architectures: Gen8, Gen9, Gen11, Xe, Xe2, Xe3; the next ones lie above.
constexpr unsigned intel_architectures[] = {8, 9, 11, 12, 20, 30};
constexpr unsigned last_intel_architecture = 49;
constexpr unsigned last_intel_release = 255;
constexpr unsigned last_intel_revision = 63;

std::optional<Parts> parts_of(std::string_view text) {
  Parts parts;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (part.empty() || error != std::errc() || stop != part.data() + part.size())
      return std::nullopt;
    parts.push_back(number);
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

/// Up to three of `known`, the nearest number first.
std::string nearest_numbers(const Parts& parts, std::vector<std::string> known) {
  constexpr std::size_t most = 3;
  constexpr double step = 1000;
  const auto number = [](const Parts& of) {
    return of[0] + (of.size() > 1 ? static_cast<double>(of[1]) / step : 0.0);
  };
  const double wanted = number(parts);
  const auto distance = [&](const std::string& text) {
    const double off = number(*parts_of(text)) - wanted;
    return std::pair(off < 0 ? -off : off, text);
  };
  std::ranges::sort(known, {}, distance);
  if (known.size() > most) known.resize(most);
  return fmt::format("{}", fmt::join(known, ", "));
}

std::optional<std::string> nearest_capability(std::string_view arch) {
  if (std::ranges::find(capabilities, arch) != std::end(capabilities)) return std::nullopt;
  std::vector<std::string> known(std::begin(capabilities), std::end(capabilities));
  const auto parts = parts_of(arch);
  if (!parts || parts->size() != 2) return nearest_words(arch, known);
  const unsigned newest = parts_of(known.back())->front();
  constexpr unsigned last_minor = 9;
  unsigned last_known = 0;
  for (const std::string& one : known) {
    const Parts of_one = *parts_of(one);
    if (of_one[0] == (*parts)[0]) last_known = of_one[1];
  }
  const bool next = (*parts)[0] == newest + 1;
  const bool newer =
      (*parts)[0] >= first_sold_capability && (*parts)[0] <= newest && (*parts)[1] > last_known;
  if ((next || newer) && (*parts)[1] <= last_minor) return std::nullopt;
  return nearest_numbers(*parts, std::move(known));
}

/// "gfx942:sramecc+:xnack-", as HIP and rocminfo write it, -> "gfx942".
std::string_view without_target_features(std::string_view arch) {
  for (const char* feature : {":xnack+", ":xnack-", ":sramecc+", ":sramecc-"}) {
    if (arch.ends_with(feature)) arch.remove_suffix(std::string_view(feature).size());
  }
  return arch;
}

std::optional<std::string> nearest_gfx(std::string_view target) {
  const std::string_view arch = without_target_features(target);
  if (std::ranges::find(gfx_names, arch) != std::end(gfx_names)) return std::nullopt;
  const std::string_view newest = gfx_names[std::size(gfx_names) - 1];
  // Two hexadecimal digits after the generation.
  const std::string_view generation = arch.size() > 5 ? arch.substr(3, arch.size() - 5) : arch;
  const std::string_view newest_generation = newest.substr(3, newest.size() - 5);
  const auto number = parts_of(generation);
  const auto newest_number = parts_of(newest_generation);
  const bool digits =
      arch.size() > 5 && arch.find_last_not_of("0123456789abcdef") < arch.size() - 2;
  if (arch.starts_with("gfx") && digits && number && number->size() == 1) {
    if (number->front() == newest_number->front() + 1) return std::nullopt;
    if (generation == newest_generation && arch > newest) return std::nullopt;
  }
  return nearest_words(arch, {std::begin(gfx_names), std::end(gfx_names)});
}

std::optional<std::string> nearest_device_ip(std::string_view arch) {
  std::vector<std::string> known;
  for (const GpuModel& model : gpu_models()) {
    const std::string ip(model.arch);
    if (model.vendor == GpuVendor::intel && std::ranges::find(known, ip) == known.end())
      known.push_back(ip);
  }
  const auto parts = parts_of(arch);
  if (!parts || parts->size() != 3) return nearest_words(arch, known);
  const unsigned newest = intel_architectures[std::size(intel_architectures) - 1];
  const bool is_architecture =
      std::ranges::find(intel_architectures, (*parts)[0]) != std::end(intel_architectures) ||
      ((*parts)[0] > newest && (*parts)[0] <= last_intel_architecture);
  if (is_architecture && (*parts)[1] <= last_intel_release && (*parts)[2] <= last_intel_revision)
    return std::nullopt;
  return nearest_numbers(*parts, std::move(known));
}

}  // namespace

std::optional<std::string> nearest_arch(GpuVendor vendor, std::string_view arch) {
  switch (vendor) {
    case GpuVendor::nvidia:
      return nearest_capability(arch);
    case GpuVendor::amd:
      return nearest_gfx(arch);
    case GpuVendor::intel:
      return nearest_device_ip(arch);
    default:
      return std::nullopt;
  }
}

std::optional<std::string> nearest_driver(GpuVendor vendor, std::string_view version) {
  const auto parts = parts_of(version);
  if (vendor == GpuVendor::nvidia) {
    constexpr unsigned first_branch = 71;
    constexpr unsigned branches_ahead = 200;
    constexpr unsigned last_part = 999;
    const unsigned last_branch = detect::cuda_driver_branches.back().branch + branches_ahead;
    const bool possible =
        parts && parts->front() >= first_branch && parts->front() <= last_branch &&
        std::ranges::all_of(*parts, [](unsigned part) { return part <= last_part; });
    if (possible) return std::nullopt;
    std::vector<std::string> known;
    for (const detect::CudaDriverBranch& row : detect::cuda_driver_branches)
      known.emplace_back(row.driver);
    return parts ? nearest_numbers(*parts, std::move(known)) : nearest_words(version, known);
  }
  constexpr unsigned last_amd_major = 99;
  if (vendor == GpuVendor::amd && parts && parts->front() > last_amd_major) return "6.12.12, 30.30";
  return std::nullopt;
}

std::optional<std::string> nearest_api(GpuVendor vendor, std::string_view version) {
  const auto parts = parts_of(version);
  if (!parts || (vendor != GpuVendor::nvidia && vendor != GpuVendor::amd)) return std::nullopt;
  if (vendor == GpuVendor::amd) {
    constexpr unsigned last_rocm = 15;
    constexpr unsigned last_part = 99;
    const bool possible =
        parts->front() <= last_rocm &&
        std::ranges::all_of(*parts, [](unsigned part) { return part <= last_part; });
    if (possible) return std::nullopt;
    return nearest_numbers(*parts, {"5.7", "6.4", "7.2", "7.14"});
  }
  constexpr unsigned majors_ahead = 2;
  constexpr unsigned last_minor = 9;
  const unsigned newest = parts_of(detect::cuda_driver_branches.back().cuda)->front();
  if (parts->front() >= 1 && parts->front() <= newest + majors_ahead &&
      (parts->size() < 2 || (*parts)[1] <= last_minor)) {
    return std::nullopt;
  }
  std::vector<std::string> known;
  for (const detect::CudaDriverBranch& row : detect::cuda_driver_branches)
    known.emplace_back(row.cuda);
  return nearest_numbers(*parts, std::move(known));
}

std::optional<std::string> nearest_libc(std::string_view family, unsigned major, unsigned minor) {
  constexpr unsigned last_minor = 99;
  if (family == "glibc" && (major != 2 || minor > last_minor)) return "2.28, 2.36";
  if (family == "musl" && (major != 1 || minor > last_minor)) return "1.2";
  return std::nullopt;
}

}  // namespace axle::machines

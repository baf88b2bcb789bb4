#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "machines/fact_words.h"
#include "machines/possible_facts.h"
#include "machines/vendor_facts.h"

namespace axle::machines {

using detect::Driver;
using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view newest_backend = "7.2";

// LLVM, User Guide for AMDGPU Backend, "Processors".
constexpr std::string_view gfx_names[] = {
    "gfx600",  "gfx601",  "gfx602",  "gfx700",  "gfx701",  "gfx702",  "gfx703",
    "gfx704",  "gfx705",  "gfx801",  "gfx802",  "gfx803",  "gfx805",  "gfx810",
    "gfx900",  "gfx902",  "gfx904",  "gfx906",  "gfx908",  "gfx909",  "gfx90a",
    "gfx90c",  "gfx940",  "gfx941",  "gfx942",  "gfx950",  "gfx1010", "gfx1011",
    "gfx1012", "gfx1013", "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034",
    "gfx1035", "gfx1036", "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150",
    "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201", "gfx1250", "gfx1251"};

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
  return text::nearest_words(arch, {std::begin(gfx_names), std::end(gfx_names)});
}

std::optional<std::string> nearest_amd_driver(std::string_view version,
                                              std::string_view /*system*/) {
  constexpr unsigned last_major = 99;
  const auto parts = parts_of(version);
  if (parts && parts->front() > last_major) return "6.12.12, 30.30";
  return std::nullopt;
}

std::optional<std::string> nearest_rocm(std::string_view version) {
  const auto parts = parts_of(version);
  if (!parts) return std::nullopt;
  constexpr unsigned last_rocm = 15;
  constexpr unsigned last_part = 99;
  const bool possible =
      parts->front() <= last_rocm &&
      std::ranges::all_of(*parts, [](unsigned part) { return part <= last_part; });
  if (possible) return std::nullopt;
  return nearest_numbers(*parts, {"5.7", "6.4", "7.2", "7.14"});
}

bool is_gfx(std::string_view text) {
  return text.size() >= 6 && text.size() <= 10 && text.starts_with("gfx") &&
         std::ranges::all_of(text.substr(3), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<void> add_amd(Machine& machine, std::string_view text) {
  const auto facts = parse_pairs("amd", text, {"driver", "gfx", "gpu", "rocm"});
  if (!facts) return std::unexpected(facts.error());
  std::optional<std::string> arch;
  if (const std::string* gfx = find_fact(*facts, "gfx")) {
    arch = gfx->starts_with("gfx") ? *gfx : "gfx" + *gfx;
    if (!is_gfx(*arch)) return bad_value("amd", "gfx", *gfx, "gfx=gfx942");
    if (const auto nearest = nearest_arch(GpuVendor::amd, *arch))
      return impossible("amd", "gfx", *gfx, *nearest);
  }
  const std::string* version = find_fact(*facts, "driver");
  const std::string* rocm = find_fact(*facts, "rocm");
  if (version != nullptr && !is_version(*version, 4)) {
    return bad_value("amd", "driver", *version, "driver=6.12.12");
  }
  if (rocm != nullptr && (!is_version(*rocm, 3) || rocm->find('.') == std::string::npos)) {
    return bad_value("amd", "rocm", *rocm, "rocm=6.4");
  }
  if (auto ok = check_driver(machine, GpuVendor::amd, version, "rocm", rocm); !ok) return ok;
  if (auto added = add_gpu(machine, GpuVendor::amd, *facts, arch); !added) return added;
  if (version == nullptr && rocm == nullptr) return {};
  Driver& driver = stated_driver(machine, GpuVendor::amd);
  if (version != nullptr) driver.kernel_version = *version;
  if (rocm != nullptr) driver.api_version = *rocm;
  return {};
}

std::optional<std::string> state_gfx(std::string_view word) {
  if (!is_gfx(word) || nearest_gfx(word)) return std::nullopt;
  return fmt::format("amd:gfx={}", word);
}

struct FirstRocm {
  std::string_view arch;
  std::pair<unsigned, unsigned> rocm;
};

/// The first release whose runtime lists the architecture, before which there is no such device for
/// it (ROCm/ROCR-Runtime, runtime/hsa-runtime/core/runtime/isa.cpp by release tag); of gfx950 the
/// one before the first that torch's sources name with it (aten/src/ATen/Context.cpp: 6.5).
constexpr std::array first_rocm = {
    FirstRocm{"gfx90a", {4, 3}},  FirstRocm{"gfx90c", {4, 3}},  FirstRocm{"gfx942", {5, 7}},
    FirstRocm{"gfx950", {6, 4}},  FirstRocm{"gfx1034", {4, 5}}, FirstRocm{"gfx1035", {4, 5}},
    FirstRocm{"gfx1036", {5, 3}}, FirstRocm{"gfx1100", {5, 3}}, FirstRocm{"gfx1101", {5, 5}},
    FirstRocm{"gfx1102", {5, 3}}, FirstRocm{"gfx1103", {5, 3}}, FirstRocm{"gfx1150", {6, 1}},
    FirstRocm{"gfx1151", {6, 1}}, FirstRocm{"gfx1200", {6, 2}}, FirstRocm{"gfx1201", {6, 2}}};

std::optional<DriverMisfit> amd_driver_misfit(const Machine& /*machine*/, const detect::Gpu* gpu,
                                              const Driver& driver) {
  const std::string arch = gpu == nullptr ? std::string() : gpu->arch;
  const auto rocm = parts_of(driver.api_version);
  const auto* const row = std::ranges::find(first_rocm, arch, &FirstRocm::arch);
  if (!rocm || rocm->size() < 2 || row == first_rocm.end() ||
      std::pair((*rocm)[0], (*rocm)[1]) >= row->rocm)
    return std::nullopt;
  return DriverMisfit{fmt::format("ROCm {} knows no GPU of {}", driver.api_version, arch),
                      "api_version", fmt::format("rocm={}.{}", row->rocm.first, row->rocm.second)};
}

/// ROCm of Windows has no version of the system: programs bring their own.
Driver assumed_driver(const Machine& machine) {
  Driver driver;
  if (machine.os.system != "Windows") driver.api_version = newest_backend;
  return driver;
}

std::string describe_assumption(const Driver& driver) {
  if (driver.api_version.empty()) return "a working driver of AMD is assumed";
  return fmt::format(
      "a working amdgpu driver and ROCm {} are assumed; specify another with amd:rocm=…",
      driver.api_version);
}

}  // namespace

const VendorFacts amd_facts = {GpuVendor::amd,
                               add_amd,
                               state_gfx,
                               nearest_gfx,
                               nearest_amd_driver,
                               nearest_rocm,
                               amd_driver_misfit,
                               nullptr,
                               /*has_windows_on_arm=*/false,
                               assumed_driver,
                               describe_assumption,
                               nullptr};

}  // namespace axle::machines

#pragma once
// The GPU vendors, one row each. docs/adding.md lists the tables that have a row per vendor too.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "detect/machine.h"

namespace axle::detect {

struct GpuVendorRow {
  GpuVendor vendor;
  std::string_view word;   ///< in profiles, JSON, namespaces and families: "nvidia"
  std::string_view title;  ///< for sentences: "NVIDIA"
  std::string_view api;    ///< before Driver::api_version, in messages: "CUDA up to"
  std::uint32_t pci_id;
  bool accelerators;                          ///< its PCI processing accelerators are GPUs
  std::span<const std::string_view> modules;  ///< kernel drivers
  std::span<const std::string_view> masks;    ///< variables that hide its GPUs from programs
};

namespace gpu_vendor_table {

inline constexpr std::string_view nvidia_modules[] = {"nvidia"};
inline constexpr std::string_view nvidia_masks[] = {"CUDA_VISIBLE_DEVICES"};
inline constexpr std::string_view amd_modules[] = {"amdgpu"};
inline constexpr std::string_view amd_masks[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                                 "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
inline constexpr std::string_view intel_modules[] = {"i915", "xe"};
inline constexpr std::string_view intel_masks[] = {"ZE_AFFINITY_MASK"};

// AMD's Instinct since the MI300 are processing accelerators; its NPUs have another vendor id.
// Intel's processing accelerators are NPUs.
inline constexpr std::array rows{
    GpuVendorRow{GpuVendor::nvidia, "nvidia", "NVIDIA", "CUDA up to", 0x10DE, false, nvidia_modules,
                 nvidia_masks},
    GpuVendorRow{GpuVendor::amd, "amd", "AMD", "ROCm", 0x1002, true, amd_modules, amd_masks},
    GpuVendorRow{GpuVendor::intel, "intel", "Intel", "Level Zero", 0x8086, false, intel_modules,
                 intel_masks},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].vendor) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "gpu_vendor() finds a row by its enumerator");

}  // namespace gpu_vendor_table

/// In the order in which vendors are queried, shown and preferred.
constexpr const auto& gpu_vendors() { return gpu_vendor_table::rows; }

constexpr const GpuVendorRow& gpu_vendor(GpuVendor vendor) {
  return gpu_vendor_table::rows[static_cast<std::size_t>(vendor)];
}

/// The vendor with that word.
constexpr std::optional<GpuVendor> parse_vendor(std::string_view word) {
  for (const GpuVendorRow& row : gpu_vendors()) {
    if (row.word == word) return row.vendor;
  }
  return std::nullopt;
}

}  // namespace axle::detect

#pragma once
// Parses AMD's texts and numbers, and the output of ROCm SMI: lines in, facts out. Does not access
// the system.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/drivers/driver_lines.h"

namespace axle::detect {

/// One node of the kernel's KFD topology (/sys/class/kfd/kfd/topology/nodes/<n>/properties).
struct KfdNode {
  std::uint64_t simd_count = 0;  ///< 0: a CPU
  std::uint64_t vendor_id = 0;
  std::uint64_t device_id = 0;
  std::uint64_t location_id = 0;  ///< bus << 8 | device << 3 | function
  std::uint64_t domain = 0;
  std::uint64_t drm_render_minor = 0;
  std::uint64_t gfx_target_version = 0;
  std::uint64_t capability = 0;  ///< HSA_CAPABILITY
  std::uint64_t unique_id = 0;   ///< serial number of the chip: for masks only, never shown
  friend bool operator==(const KfdNode&, const KfdNode&) = default;
};

/// Unknown keys and broken lines are skipped.
[[nodiscard]] KfdNode parse_kfd_properties(std::string_view text);

/// "0000:65:00.0"; empty if domain or location are out of range.
[[nodiscard]] std::string pci_address_of(const KfdNode& node);

/// 90010 -> "gfx90a": major in decimal, minor and stepping in hexadecimal (ROCm SMI's own decoder
/// uses decimal for all three, which is wrong). Empty for 0 and for anything that is not a version.
[[nodiscard]] std::string render_gfx(std::uint64_t gfx_target_version);

/// "gfx90a:sramecc+" for the chips whose code depends on it; empty for others. XNACK is a mode of
/// each process, which the topology does not report.
[[nodiscard]] std::string render_target_id(const KfdNode& node);

/// GPUs that are part of a processor, by gfx version.
[[nodiscard]] bool is_integrated_gfx(std::string_view gfx);

/// "GPU-0123456789abcdef": the form in ROCR_VISIBLE_DEVICES; empty if there is no id.
[[nodiscard]] std::string render_amd_uuid(std::uint64_t unique_id);

/// HSA_OVERRIDE_GFX_VERSION: "10.3.0" -> "gfx1030". Empty if it is not valid; ROCm rejects
/// "gfx1030".
[[nodiscard]] std::string parse_gfx_override(std::string_view text);

/// The version in /opt/rocm/.info/version: "6.4.0-47" -> "6.4". Empty if there is none.
[[nodiscard]] std::string parse_rocm_version(std::string_view text);

/// "libamdhip64.so.6.4.43482" -> "6.4". Empty if the name has fewer than two numbers.
[[nodiscard]] std::string parse_hip_library_name(std::string_view file);

struct SmiDevice {
  std::string pci_address;
  std::uint64_t memory = 0;
  std::string name;
};

/// The lines from the child (detect/amd/libraries.cpp).
struct SmiAnswer {
  std::string step;
  std::string refused;  ///< a library file that was not loaded, and why
  std::optional<std::int64_t> init;
  std::string driver_version;
  std::vector<SmiDevice> devices;
};

[[nodiscard]] SmiAnswer read_smi_lines(const std::vector<DriverLine>& lines);

}  // namespace axle::detect

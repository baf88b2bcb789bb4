#pragma once
// Parses Huawei Ascend's files and the output of its tool. Does not access the system.

#include <string>
#include <string_view>
#include <vector>

namespace axle::detect {

struct AscendDevice {
  std::string name;         ///< "910B3"
  std::string health;       ///< "OK", "Warning", "Alarm", "Critical"
  std::string pci_address;  ///< as in sysfs; empty if not reported
};

/// The output of `npu-smi info`.
struct AscendTool {
  std::string version;  ///< "24.1.rc3": the driver's
  std::vector<AscendDevice> devices;
};

/// Rows that do not belong to the table are skipped; at most 256 devices.
[[nodiscard]] AscendTool parse_npu_smi(std::string_view text);

/// The type in the published provider's naming: "Ascend910" -> "a3", "910B3" -> "910b", "310P3" ->
/// "310p", others in lower case: "310B4" -> "310b4". Empty if there are other characters.
[[nodiscard]] std::string ascend_type_of(std::string_view name);

/// The value of `version=` or `Version=` in an install.info or version.info file: "8.0.0". Empty if
/// there is none or it is not a valid version.
[[nodiscard]] std::string parse_ascend_version(std::string_view text);

}  // namespace axle::detect

#pragma once
// NVIDIA's own tool, for a program that can load no libraries (linked statically, without a dynamic
// loader): what it prints. Touches no system.

#include <string>
#include <string_view>
#include <vector>

#include "detect/nvidia/facts.h"

namespace axle::detect {

/// Arguments that make nvidia-smi print what parse_nvidia_smi reads. `compute_cap` is there since
/// R510; older tools refuse the whole question.
inline constexpr std::string_view nvidia_smi_query =
    "--query-gpu=index,driver_version,compute_cap,pci.bus_id,memory.total,uuid,pci.device_id,"
    "mig.mode.current,name --format=csv,noheader,nounits";

struct NvidiaTool {
  std::string driver_version;
  std::vector<NvidiaDevice> devices;  ///< at most 256
};

/// Lines that are no GPU's are skipped.
[[nodiscard]] NvidiaTool parse_nvidia_smi(std::string_view text);

}  // namespace axle::detect

#pragma once
// Parses the output of NVIDIA's own tool, for a program that cannot load libraries (linked
// statically, without a dynamic loader). Does not access the system.

#include <string>
#include <string_view>
#include <vector>

#include "detect/nvidia/facts.h"

namespace axle::detect {

/// Arguments that make nvidia-smi print what parse_nvidia_smi reads. `compute_cap` exists since
/// R510; older tools reject the whole query.
inline constexpr std::string_view nvidia_smi_query =
    "--query-gpu=index,driver_version,compute_cap,pci.bus_id,memory.total,uuid,pci.device_id,"
    "mig.mode.current,name --format=csv,noheader,nounits";

struct NvidiaTool {
  std::string driver_version;
  std::vector<NvidiaDevice> devices;  ///< at most 256
};

/// Lines that do not describe a GPU are skipped.
[[nodiscard]] NvidiaTool parse_nvidia_smi(std::string_view text);

}  // namespace axle::detect

#pragma once
// Parses NVIDIA's texts and numbers, and the output of its libraries: lines in, facts out. Does not
// access the system.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/drivers/driver_lines.h"

namespace axle::detect {

/// The version in /proc/driver/nvidia/version ("550.54.14"); empty if there is none.
[[nodiscard]] std::string parse_nvidia_proc_version(std::string_view text);

/// The model in /proc/driver/nvidia/gpus/<address>/information; empty if there is none.
[[nodiscard]] std::string parse_nvidia_model(std::string_view text);

/// The version in a driver library's file name: "libcuda.so.570.124.06". Empty if there is none.
[[nodiscard]] std::string parse_library_version(std::string_view file);

/// "570.124.06": digits, a dot, and more of both.
[[nodiscard]] bool is_driver_version(std::string_view text);

/// A compute capability: "9.0", "12.1".
[[nodiscard]] bool is_capability(std::string_view text);

/// 12080 -> "12.8"; nullopt for values that no driver reports.
[[nodiscard]] std::optional<std::string> render_cuda_version(std::int64_t version);

struct NvidiaDevice {
  std::int64_t index = 0;
  std::string capability;   ///< "9.0"; empty if not reported
  std::string pci_address;  ///< as in sysfs, may be empty
  std::uint64_t memory = 0;
  std::string uuid;  ///< "GPU-…", NVML only
  std::string name;
  std::string pci_id;  ///< "10de:2330", NVML only
  bool integrated = false;
  bool mig = false;
  std::optional<std::int64_t> mig_instances;  ///< if `mig`, and the library reports it
};

/// The lines from the child (detect/nvidia/libraries.cpp).
struct NvidiaAnswer {
  std::string step;     ///< the last one that was started
  std::string refused;  ///< a library file that was not loaded, and why
  std::string cuda_missing;
  std::string cuda_file;
  std::optional<std::int64_t> cuda_version;
  std::optional<std::int64_t> cuda_version_error;
  std::optional<std::int64_t> cuda_init;
  std::vector<NvidiaDevice> cuda_devices;
  bool compat = false;  ///< the first libcuda is a forward-compatibility one
  std::string compat_file;
  std::string compat_version;             ///< of its ELF note
  std::vector<unsigned> compat_branches;  ///< of its ELF note
  bool retried = false;  ///< it failed with `compat_init`; all above is from another libcuda
  std::optional<std::int64_t> compat_init;
  bool by_tool = false;  ///< nvidia-smi in place of NVML: this program cannot load libraries
  std::optional<std::int64_t> nvml_init;
  std::optional<std::int64_t> nvml_cuda;
  std::string nvml_driver;
  std::optional<std::int64_t> nvml_count;
  std::optional<std::int64_t> nvml_device_error;  ///< the first
  std::vector<NvidiaDevice> nvml_devices;
  bool fabric_pending = false;  ///< a GPU waits for the fabric manager
  std::vector<std::string> missing_symbols;
};

[[nodiscard]] NvidiaAnswer read_nvidia_lines(const std::vector<DriverLine>& lines);

}  // namespace axle::detect

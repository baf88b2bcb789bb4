#pragma once
// PCI device ids of accelerators that are not GPUs.

#include <cstdint>
#include <string_view>

namespace axle::detect {

inline constexpr std::uint32_t cloud_ai_100 = 0xA100;  ///< Qualcomm (Linux, drivers/accel/qaic)

struct NpuModel {
  std::uint32_t device;
  std::string_view type;  ///< "v5e"; for Intel's the processor
};

/// Google's TPUs (jax, hardware_utils.py). 0x0027 is used for v2 and v3 and does not distinguish
/// them.
inline constexpr NpuModel tpu_models[] = {
    {0x0027, ""},    {0x0056, "plc"}, {0x005E, "v4"}, {0x0062, "v5p"},
    {0x0063, "v5e"}, {0x006F, "v6e"}, {0x0076, "7x"},
};

/// Intel's NPUs (Linux, drivers/accel/ivpu/ivpu_drv.h).
inline constexpr NpuModel intel_npu_models[] = {
    {0x7D1D, "Meteor Lake"},  {0xAD1D, "Arrow Lake"},   {0x643E, "Lunar Lake"},
    {0xB03E, "Panther Lake"}, {0xFD3E, "Wildcat Lake"}, {0xD71D, "Nova Lake"},
};

[[nodiscard]] constexpr const NpuModel* find_tpu(std::uint32_t device) {
  for (const NpuModel& model : tpu_models) {
    if (model.device == device) return &model;
  }
  return nullptr;
}

[[nodiscard]] constexpr const NpuModel* find_intel_npu(std::uint32_t device) {
  for (const NpuModel& model : intel_npu_models) {
    if (model.device == device) return &model;
  }
  return nullptr;
}

}  // namespace axle::detect

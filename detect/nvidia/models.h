#pragma once
// NVIDIA's chips by PCI device id: the names of GPUs whose driver reports none. For messages only
// (NVIDIA gpu-admin-tools, devid_chips.py; the pci.ids database).

#include <cstdint>
#include <string_view>

namespace axle::detect {

struct NvidiaChip {
  std::uint32_t first;
  std::uint32_t last;
  std::string_view name;  ///< "Hopper (GH100)"
};

/// By device id. NVIDIA assigns blocks of 64 or 128 ids to each chip.
inline constexpr NvidiaChip nvidia_chips[] = {
    {0x0FC0, 0x103F, "Kepler"},
    {0x1180, 0x11FF, "Kepler"},
    {0x1280, 0x12BF, "Kepler"},
    {0x1340, 0x137F, "Maxwell (GM108)"},
    {0x1380, 0x13BF, "Maxwell (GM107)"},
    {0x13C0, 0x13FF, "Maxwell (GM204)"},
    {0x1400, 0x143F, "Maxwell (GM206)"},
    {0x15F0, 0x15FF, "Pascal (GP100)"},
    {0x1600, 0x163F, "Maxwell (GM204)"},
    {0x17C0, 0x17FF, "Maxwell (GM200)"},
    {0x1B00, 0x1B7F, "Pascal (GP102)"},
    {0x1B80, 0x1BFF, "Pascal (GP104)"},
    {0x1C00, 0x1C7F, "Pascal (GP106)"},
    {0x1C80, 0x1CFF, "Pascal (GP107)"},
    {0x1D00, 0x1D3F, "Pascal (GP108)"},
    {0x1D80, 0x1DFF, "Volta (GV100)"},
    {0x1E00, 0x1E7F, "Turing (TU102)"},
    {0x1E80, 0x1EFF, "Turing (TU104)"},
    {0x1F00, 0x1F7F, "Turing (TU106)"},
    {0x1F80, 0x1FFF, "Turing (TU117)"},
    {0x2080, 0x20FF, "Ampere (GA100)"},
    {0x2180, 0x21FF, "Turing (TU116)"},
    {0x2200, 0x22FF, "Ampere (GA102)"},
    {0x2300, 0x237F, "Hopper (GH100)"},
    {0x2400, 0x24FF, "Ampere (GA104)"},
    {0x2500, 0x257F, "Ampere (GA106)"},
    {0x2580, 0x25FF, "Ampere (GA107)"},
    {0x2680, 0x26FF, "Ada (AD102)"},
    {0x2700, 0x277F, "Ada (AD103)"},
    {0x2780, 0x27FF, "Ada (AD104)"},
    {0x2800, 0x287F, "Ada (AD106)"},
    {0x2880, 0x28FF, "Ada (AD107)"},
    {0x2900, 0x297F, "Blackwell (GB100)"},
    {0x2980, 0x29FF, "Blackwell (GB102)"},
    {0x2B80, 0x2BFF, "Blackwell (GB202)"},
    {0x2C00, 0x2C7F, "Blackwell (GB203)"},
    {0x2D00, 0x2D7F, "Blackwell (GB206)"},
    {0x2D80, 0x2DFF, "Blackwell (GB207)"},
    {0x2F00, 0x2F7F, "Blackwell (GB205)"},
};

/// "Hopper (GH100)"; empty for an unknown id.
[[nodiscard]] constexpr std::string_view chip_of(std::uint32_t device) {
  for (const NvidiaChip& chip : nvidia_chips) {
    if (device >= chip.first && device <= chip.last) return chip.name;
  }
  return {};
}

}  // namespace axle::detect

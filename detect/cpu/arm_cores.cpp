#include "detect/cpu/arm_cores.h"

namespace axle::detect {
namespace {

struct ArmCore {
  std::string_view implementer;
  std::string_view part;  ///< empty: any other
  std::string_view name;
};

constexpr ArmCore cores[] = {
    {"0x41", "0xd03", "Arm Cortex-A53"},
    {"0x41", "0xd04", "Arm Cortex-A35"},
    {"0x41", "0xd05", "Arm Cortex-A55"},
    {"0x41", "0xd07", "Arm Cortex-A57"},
    {"0x41", "0xd08", "Arm Cortex-A72"},
    {"0x41", "0xd09", "Arm Cortex-A73"},
    {"0x41", "0xd0a", "Arm Cortex-A75"},
    {"0x41", "0xd0b", "Arm Cortex-A76"},
    {"0x41", "0xd0c", "Arm Neoverse-N1"},
    {"0x41", "0xd0d", "Arm Cortex-A77"},
    {"0x41", "0xd40", "Arm Neoverse-V1"},
    {"0x41", "0xd41", "Arm Cortex-A78"},
    {"0x41", "0xd42", "Arm Cortex-A78AE"},
    {"0x41", "0xd44", "Arm Cortex-X1"},
    {"0x41", "0xd46", "Arm Cortex-A510"},
    {"0x41", "0xd47", "Arm Cortex-A710"},
    {"0x41", "0xd48", "Arm Cortex-X2"},
    {"0x41", "0xd49", "Arm Neoverse-N2"},
    {"0x41", "0xd4d", "Arm Cortex-A715"},
    {"0x41", "0xd4e", "Arm Cortex-X3"},
    {"0x41", "0xd4f", "Arm Neoverse-V2"},
    {"0x41", "0xd80", "Arm Cortex-A520"},
    {"0x41", "0xd81", "Arm Cortex-A720"},
    {"0x41", "0xd82", "Arm Cortex-X4"},
    {"0x41", "0xd83", "Arm Neoverse-V3AE"},
    {"0x41", "0xd84", "Arm Neoverse-V3"},
    {"0x41", "0xd85", "Arm Cortex-X925"},
    {"0x41", "0xd87", "Arm Cortex-A725"},
    {"0x41", "0xd8e", "Arm Neoverse-N3"},
    {"0x41", "", "Arm"},
    {"0x43", "0x0a1", "Cavium ThunderX"},
    {"0x43", "0x0af", "Cavium ThunderX2"},
    {"0x43", "", "Cavium"},
    {"0x46", "0x001", "Fujitsu A64FX"},
    {"0x46", "", "Fujitsu"},
    {"0x48", "0xd01", "HiSilicon TSV110"},
    {"0x48", "", "HiSilicon"},
    {"0x4e", "0x004", "NVIDIA Carmel"},
    {"0x4e", "", "NVIDIA"},
    {"0x51", "", "Qualcomm"},
    {"0x61", "", "Apple"},
    {"0xc0", "0xac3", "Ampere-1"},
    {"0xc0", "0xac4", "Ampere-1A"},
    {"0xc0", "", "Ampere"},
};

}  // namespace

std::string_view find_arm_core(std::string_view implementer, std::string_view part) {
  for (const ArmCore& core : cores) {
    if (core.implementer == implementer && (core.part.empty() || core.part == part)) {
      return core.name;
    }
  }
  return {};
}

}  // namespace axle::detect

#pragma once
// The one table of machine capabilities. Selection (providers/), kernel dispatch (runtime/) and
// build flags (builder/) all read it, so that "installed" means "runs"; it also names the
// instructions that betray a capability in a finished binary. A new CPU flag is one row in
// detect/capability_table.inc.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace axle::detect {

/// Columns of detect/capability_table.inc, in this order:
/// X86(id, leaf, subleaf, register, bit, os_state, property, gcc_flag, first_gcc, mnemonics)
/// ARM(id, hwcap_word, bit, property, gcc_flag, first_gcc, mnemonics)
enum class Capability : std::uint16_t {
#define AXLE_CAPABILITY_X86(id, ...) id,
#define AXLE_CAPABILITY_ARM(id, ...) id,
#include "detect/capability_table.inc"
#undef AXLE_CAPABILITY_X86
#undef AXLE_CAPABILITY_ARM
};

inline constexpr std::size_t capability_count = 0
#define AXLE_CAPABILITY_X86(...) +1
#define AXLE_CAPABILITY_ARM(...) +1
#include "detect/capability_table.inc"
#undef AXLE_CAPABILITY_X86
#undef AXLE_CAPABILITY_ARM
    ;

enum class CpuidRegister : std::uint8_t { eax, ebx, ecx, edx };

/// The register state that the operating system must have enabled in XCR0 (Intel SDM vol. 1, 13.3).
enum class OsState : std::uint8_t { none, xmm, ymm, zmm, tile, apx };

struct CapabilityRow {
  Capability id;
  std::string_view
      name;  ///< as /proc/cpuinfo spells it ("avx512_vnni"), ARM's with "arm_" before it
  bool x86;  ///< read by CPUID; else by AT_HWCAP
  // x86: CPUID(leaf, subleaf).reg[bit] (Intel SDM vol. 2A, CPUID; AMD APM vol. 3, appendix E)
  std::uint32_t leaf;
  std::uint32_t subleaf;
  CpuidRegister reg;
  // aarch64: 1 AT_HWCAP, 2 AT_HWCAP2, 3 AT_HWCAP3 (Linux uapi asm/hwcap.h)
  std::uint8_t hwcap_word;
  std::uint8_t bit;
  OsState os_state;
  std::string_view property;  ///< property that stands for it: "x86_64 :: avx512_vnni :: on"
  std::string_view gcc_flag;  ///< compiler flag that generates it: "-mavx512vnni"; may be empty
  unsigned first_gcc;         ///< first GCC major that knows the flag; 0: every one we support
  std::string_view
      mnemonics;  ///< instructions that betray it in a binary, space separated, may be empty
};

/// All rows, indexed by Capability.
[[nodiscard]] std::span<const CapabilityRow> capabilities();
[[nodiscard]] const CapabilityRow& row(Capability capability);
[[nodiscard]] std::optional<Capability> find_capability(std::string_view name);

/// The psABI x86-64 levels (x86-64 psABI, "micro-architecture levels"): what v1 … v4 each add.
/// `level` in 1..4; the capabilities of that level alone, without those of the levels below.
[[nodiscard]] std::span<const Capability> x86_64_level(unsigned level);

}  // namespace axle::detect

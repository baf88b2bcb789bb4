#pragma once
// The only table of machine capabilities. The choice of variants (providers/), kernel dispatch
// (runtime/) and build flags (builder/) all read it, so that "installed" means "runs"; it also
// lists the instructions that reveal a capability in a finished binary. A new CPU flag is one row
// in detect/capability_table.inc.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace axle::detect {

enum class Arch : std::uint8_t { other, x86_64, aarch64, ppc64le, riscv64, s390x };

/// Columns of detect/capability_table.inc, in this order:
/// X86(id, leaf, subleaf, register, bit, os_state, property, gcc_flag, first_gcc, mnemonics)
/// KERNEL(arch, id, word, bit, property, gcc_flag, first_gcc, mnemonics)
enum class Capability : std::uint16_t {
#define AXLE_CAPABILITY_X86(id, ...) id,
#define AXLE_CAPABILITY_KERNEL(arch, id, ...) id,
#include "detect/capability_table.inc"
#undef AXLE_CAPABILITY_X86
#undef AXLE_CAPABILITY_KERNEL
};

inline constexpr std::size_t capability_count = 0
#define AXLE_CAPABILITY_X86(...) +1
#define AXLE_CAPABILITY_KERNEL(...) +1
#include "detect/capability_table.inc"
#undef AXLE_CAPABILITY_X86
#undef AXLE_CAPABILITY_KERNEL
    ;

enum class CpuidRegister : std::uint8_t { eax, ebx, ecx, edx };

/// The register state that the operating system must have enabled in XCR0 (Intel SDM vol. 1, 13.3).
enum class OsState : std::uint8_t { none, xmm, ymm, zmm, tile, apx, ace };

struct CapabilityRow {
  Capability id;
  std::string_view
      name;   ///< as /proc/cpuinfo spells it ("avx512_vnni"), behind the prefix of its Arch
  Arch arch;  ///< x86_64: read with CPUID; others: reported by the kernel
  // x86: CPUID(leaf, subleaf).reg[bit] (Intel SDM vol. 2A, CPUID; AMD APM vol. 3, appendix E)
  std::uint32_t leaf;
  std::uint32_t subleaf;
  CpuidRegister reg;
  // riscv64: the key of riscv_hwprobe; all others: 1 AT_HWCAP, 2 AT_HWCAP2, 3 AT_HWCAP3
  std::uint8_t word;
  std::uint8_t bit;
  OsState os_state;
  std::string_view property;   ///< property for it: "x86_64 :: avx512_vnni :: on"
  std::string_view gcc_flag;   ///< compiler flag that generates it: "-mavx512vnni"; may be empty
  unsigned first_gcc;          ///< first GCC major version with the flag; 0: all supported ones
  std::string_view mnemonics;  ///< space-separated instructions that reveal it in a binary
};

/// All rows, indexed by Capability.
[[nodiscard]] std::span<const CapabilityRow> capabilities();
[[nodiscard]] const CapabilityRow& row(Capability capability);
[[nodiscard]] std::optional<Capability> find_capability(std::string_view name);

/// The prefix that distinguishes the names of an architecture: "" (x86_64), "arm_", "power_",
/// "riscv_", "s390_".
[[nodiscard]] std::string_view capability_prefix(Arch arch);
/// The name without that prefix.
[[nodiscard]] std::string_view plain_name(const CapabilityRow& row);

inline constexpr unsigned last_x86_64_level = 4;

/// The psABI x86-64 levels (x86-64 psABI, "micro-architecture levels"): what each of v1 … v4 adds.
[[nodiscard]] std::span<const Capability> x86_64_level(unsigned level);

}  // namespace axle::detect

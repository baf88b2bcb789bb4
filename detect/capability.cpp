#include "detect/capability.h"

#include <array>

namespace axle::detect {
namespace {

constexpr std::array<CapabilityRow, capability_count> rows{{
#define AXLE_CAPABILITY_X86(id, leaf, subleaf, reg, bit, os_state, property, gcc_flag, first_gcc, \
                            mnemonics)                                                            \
  {Capability::id,    #id,      Arch::x86_64, leaf,      subleaf,  CpuidRegister::reg, 0, bit,    \
   OsState::os_state, property, gcc_flag,     first_gcc, mnemonics},
#define AXLE_CAPABILITY_KERNEL(arch, id, word, bit, property, gcc_flag, first_gcc, mnemonics) \
  {Capability::id, #id,      Arch::arch, 0,         0,        CpuidRegister::eax, word, bit,  \
   OsState::none,  property, gcc_flag,   first_gcc, mnemonics},
#include "detect/capability_table.inc"
#undef AXLE_CAPABILITY_X86
#undef AXLE_CAPABILITY_KERNEL
}};

using enum Capability;

// x86-64 psABI 1.0, section 3.1.1, table 3.1. SCE is `syscall`, LZCNT is `abm`.
constexpr std::array v1{cmov, cx8, fpu, fxsr, mmx, syscall, sse, sse2, lm};
constexpr std::array v2{cx16, lahf_lm, popcnt, sse3, ssse3, sse4_1, sse4_2};
constexpr std::array v3{avx, avx2, bmi1, bmi2, f16c, fma, abm, movbe, osxsave};
constexpr std::array v4{avx512f, avx512bw, avx512cd, avx512dq, avx512vl};

}  // namespace

std::span<const CapabilityRow> capabilities() { return rows; }

const CapabilityRow& row(Capability capability) {
  return rows[static_cast<std::size_t>(capability)];
}

std::optional<Capability> find_capability(std::string_view name) {
  for (const CapabilityRow& candidate : rows) {
    if (candidate.name == name) return candidate.id;
  }
  return std::nullopt;
}

std::string_view capability_prefix(Arch arch) {
  switch (arch) {
    case Arch::aarch64:
      return "arm_";
    case Arch::ppc64le:
      return "power_";
    case Arch::riscv64:
      return "riscv_";
    case Arch::s390x:
      return "s390_";
    case Arch::x86_64:
    case Arch::other:
      break;
  }
  return "";
}

std::string_view plain_name(const CapabilityRow& row) {
  // Not substr, which throws: the runtime's library does not link a C++ library.
  std::string_view name = row.name;
  name.remove_prefix(capability_prefix(row.arch).size());
  return name;
}

std::span<const Capability> x86_64_level(unsigned level) {
  switch (level) {
    case 1:
      return v1;
    case 2:
      return v2;
    case 3:
      return v3;
    case 4:
      return v4;
    default:
      return {};
  }
}

}  // namespace axle::detect

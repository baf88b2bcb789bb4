#include "detect/cpu/x86_os_state.h"

#include "detect/cpu/darwin.h"

namespace axle::detect {
namespace {

// XCR0, Intel SDM vol. 1, 13.3.
constexpr std::uint64_t state_ymm = 0x6;
constexpr std::uint64_t state_zmm = 0xE6;
constexpr std::uint64_t state_tile = 0x60000;
constexpr std::uint64_t state_apx = 0x80000;
constexpr std::uint64_t state_ace = 0x160000;

constexpr unsigned long auxv_hwcap2 = 26;
constexpr std::uint64_t hwcap2_fsgsbase = 0x2;  // Linux uapi asm/hwcap2.h

constexpr OsVerdict withheld{Presence::blocked, "xcr0"};

OsVerdict judge_registers(const X86OsState& os, std::uint64_t mask) {
  return (os.xcr0 & mask) == mask ? OsVerdict{} : withheld;
}

/// Registers that Linux only grants on request: XCR0 has them for every process.
OsVerdict judge_requested(const X86OsState& os, std::uint64_t mask) {
  if ((os.xcr0 & mask) != mask) return withheld;
  if (!os.supported) return {Presence::unknown, "arch_prctl-refused"};
  if ((*os.supported & mask) != mask) return {Presence::blocked, "arch_prctl"};
  return {};
}

}  // namespace

X86OsState probe_x86_os_state(Host& host, const SystemName& name, bool osxsave) {
  X86OsState os;
  os.osxsave = osxsave;
  if (osxsave) os.xcr0 = host.xcr0();
  if (osxsave && name.system == darwin) {
    os.xcr0 = darwin_zmm_state(host, name.release, os.xcr0);
  }
  if ((os.xcr0 & state_tile) == state_tile) {
    os.supported = host.xcomp(XcompQuery::supported);
    if (const auto permitted = host.xcomp(XcompQuery::permitted)) {
      os.tiles_permitted = (*permitted & state_tile) == state_tile;
    }
  }
  os.hwcap2 = host.auxiliary(auxv_hwcap2);
  return os;
}

OsVerdict judge_os_side(const X86OsState& os, const CapabilityRow& row) {
  switch (row.id) {
    case Capability::xsave:
    case Capability::xsavec:
    case Capability::xsaveopt:
      return os.osxsave ? OsVerdict{} : OsVerdict{Presence::blocked, "osxsave"};
    case Capability::fsgsbase: {
      const bool off = os.hwcap2 && (*os.hwcap2 & hwcap2_fsgsbase) == 0;
      return off ? OsVerdict{Presence::blocked, "auxv"} : OsVerdict{};
    }
    case Capability::amx_avx512:
      if ((os.xcr0 & state_zmm) != state_zmm) return withheld;
      return judge_requested(os, state_tile);
    default:
      break;
  }
  switch (row.os_state) {
    // A 64-bit kernel cannot run without the SSE registers.
    case OsState::none:
    case OsState::xmm:
      return {};
    case OsState::ymm:
      return judge_registers(os, state_ymm);
    case OsState::zmm:
      return judge_registers(os, state_zmm);
    case OsState::tile:
      return judge_requested(os, state_tile);
    case OsState::apx:
      return judge_registers(os, state_apx);
    case OsState::ace:
      return judge_requested(os, state_ace);
  }
  return withheld;
}

}  // namespace axle::detect

#pragma once
// Which features of the CPU the operating system lets an x86-64 program use: the registers that it
// saves (XCR0), and for AMX the kernel's permission.

#include <cstdint>
#include <optional>
#include <string_view>

#include "detect/host.h"
#include "detect/machine.h"

namespace axle::detect {

struct X86OsState {
  bool osxsave = false;    ///< on every kind of core; without it XCR0 does not exist
  std::uint64_t xcr0 = 0;  ///< 0 without OSXSAVE
  /// Only queried if XCR0 has the tiles; nullopt if the kernel does not allow the query.
  std::optional<std::uint64_t> supported;
  std::optional<bool> tiles_permitted;  ///< as `supported`
  std::optional<std::uint64_t> hwcap2;
};

/// `name` is uname's: macOS works differently.
[[nodiscard]] X86OsState probe_x86_os_state(Host& host, const SystemName& name, bool osxsave);

/// present, blocked or unknown: the operating system's part of a capability that the CPU has.
struct OsVerdict {
  Presence presence = Presence::present;
  std::string_view evidence;  ///< Cpu::sources; empty when present
};

[[nodiscard]] OsVerdict judge_os_side(const X86OsState& os, const CapabilityRow& row);

}  // namespace axle::detect

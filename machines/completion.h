#pragma once
// The defaults for facts that are not stated: operating system with its version, architecture,
// libc, and the driver of a GPU that is stated to work. Everything else stays unknown.

#include <optional>
#include <string>
#include <string_view>

#include "detect/machine.h"
#include "detect/os/macos.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::machines {

/// Fills in the defaults and reports them for the machine `name`. A recorded machine states
/// everything and is not changed. The architecture is that of the CPU which a GPU of the machine
/// always comes with (GpuModel::host), else x86_64, of a Mac aarch64; its system is macOS 13.0, as
/// uv has it.
void complete_machine(detect::Machine& machine, std::string_view name, Report& report);

/// A system, as a wheel's platform tag states it.
struct PlatformFacts {
  std::string architecture;  ///< "x86_64", "i686"; empty: not stated
  detect::Libc libc;         ///< no family: not stated
  std::string system = {};   ///< as Os::system; empty: not stated
  std::optional<detect::MacosVersion> macos = {};
};

/// Adds to `machine` what it does not state itself, before it is completed; a newer libc or macOS
/// of its own becomes the stated one. Error: conflict, if it is another architecture, operating
/// system or C library, or an older one.
[[nodiscard]] Result<void> state_platform(detect::Machine& machine, std::string_view name,
                                          const PlatformFacts& facts);

}  // namespace axle::machines

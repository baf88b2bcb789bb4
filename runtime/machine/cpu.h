#pragma once
// What this machine can run, read by the rows of detect's capability table. detect's own probe
// answers the same questions and many more through C++ strings and vectors; a wheel takes only
// this. cpu_<architecture>.cpp where there is one, else cpu_other.cpp.

#include "detect/capability.h"

namespace axle::runtime {

/// The CPU has it and the operating system keeps the registers that it needs.
[[nodiscard]] bool machine_has(detect::Capability capability);

/// Whether the hardware prefetcher is known to run ahead in each 4 KiB page by itself, so that
/// memory is read faster where lines of several pages are asked for in turn: the L2 streamer of
/// Intel's processors (Optimization Reference Manual). False where that has not been measured.
[[nodiscard]] bool prefetches_page_by_page();

/// Something that the system has to grant before a kernel set is used.
struct Permission {
  const char* subject;  ///< "AMX tiles": "the permission to use …" is refused
  bool (*request)();    ///< false when refused
};

/// Asks the system for the permission to use AMX tile data; it lasts for the whole process and
/// cannot be given back (Linux Documentation/arch/x86/xstate.rst). False when refused.
[[nodiscard]] bool request_tile_permission();

inline constexpr Permission tile_permission{"AMX tiles", request_tile_permission};

}  // namespace axle::runtime

#pragma once
// What times that were measured depend on: where one of these differs, they say nothing.

#include <cstdint>
#include <string>

#include "runtime/engine.h"

namespace axle::runtime {

struct MachineSignature {
  std::string cpu;       ///< "GenuineIntel 6/143/8"; "" where the system does not say
  std::string features;  ///< the capabilities of the table of kernel sets that it has, by name
  std::uint64_t l2 = 0;  ///< bytes of the first CPU's caches; 0: not known
  std::uint64_t l3 = 0;
  std::uint64_t threads = 0;
  std::string kernels;  ///< the sources of this build's kernels, as a hash
  bool operator==(const MachineSignature&) const = default;
};

/// Of this machine and build, for the engine's threads.
[[nodiscard]] MachineSignature machine_signature(Engine& engine);

}  // namespace axle::runtime

// Architectures with the portable kernel only: nothing is required, so nothing is asked.

#include "runtime/cpu.h"

namespace axle::runtime {

bool machine_has(detect::Capability) { return false; }

bool request_tile_permission() { return false; }

}  // namespace axle::runtime

#pragma once

#include "runtime/engine.h"

namespace axle::runtime {

/// As axle_runtime_selftest has it.
axle_status selftest(Engine& engine, axle_error* error);

}  // namespace axle::runtime

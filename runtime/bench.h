#pragma once

#include "runtime/engine.h"

namespace axle::runtime {

/// As axle_runtime_bench has it.
axle_status bench(Engine& engine, const axle_bench_options& options, axle_bench_result& result,
                  axle_error* error);

}  // namespace axle::runtime

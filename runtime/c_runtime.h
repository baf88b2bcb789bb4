#pragma once
// The runtime behind the C interface, for its two files: c_api.cpp and model_api.cpp.

#include "runtime/engine.h"

struct axle_runtime {
  explicit axle_runtime(int threads) : engine(threads) {}
  axle::runtime::Engine engine;
};

#pragma once

#include <time.h>

namespace axle::runtime {

/// Seconds of a clock that only goes on.
[[nodiscard]] inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace axle::runtime

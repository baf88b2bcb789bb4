#pragma once
// What the files of the C interface share: c_api.cpp and model/*_api.cpp.

#include <cstddef>
#include <cstring>

#include "runtime/engine.h"

struct axle_runtime {
  explicit axle_runtime(int threads) : engine(threads) {}
  axle::runtime::Engine engine;
};

namespace axle::runtime {

inline axle_status missing_argument(axle_error* error, const char* what) {
  return report_failure(error, AXLE_BAD_ARGUMENT, "%s is missing or of an older layout", what);
}

/// A struct of a caller of any version, whose first `least` bytes it must have: fields that the
/// caller does not know are zero, and those that this library does not know are left out.
template <class T>
bool take_known(const T* from, std::size_t least, T& to) {
  if (from == nullptr || from->struct_size < least) return false;
  std::memset(&to, 0, sizeof to);
  std::memcpy(&to, from, from->struct_size < sizeof to ? from->struct_size : sizeof to);
  return true;
}

}  // namespace axle::runtime

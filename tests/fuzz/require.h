#pragma once
// What must hold of every input.

#include <cstdlib>

namespace axle::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace axle::fuzz

#pragma once
// How often a test of random inputs tries another one.

#include <algorithm>
#include <cstdlib>

namespace axle::tests {

/// `all`, or with AXLE_TEST_BRIEF in the environment a tenth: for sanitizers, under which each
/// round takes ten times as long and has nothing to compare that it has not without them.
inline unsigned rounds(unsigned all) {
  return std::getenv("AXLE_TEST_BRIEF") == nullptr ? all : std::max(all / 10, 1U);
}

}  // namespace axle::tests

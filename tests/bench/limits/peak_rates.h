#pragma once
// What the multiplying instruction of a kernel set can do at most: no memory, no epilogue.

#include <string_view>

namespace axle::bench {

/// Operations per second, 10^9, a product and its addition being two, of `threads` threads; the
/// best of some rounds. 0 where this machine or the set has no such instruction (AMX-INT8 and VNNI
/// do).
[[nodiscard]] double peak_gigaops(std::string_view kernel, int threads);

}  // namespace axle::bench

#pragma once

#include <cstdint>

namespace axle::index {

/// Which of several indexes gives a package its versions; the names are uv's.
enum class IndexStrategy : std::uint8_t {
  first_index,         ///< the first that has a page for the project decides about it alone
  unsafe_first_match,  ///< the versions of an earlier index before those of a later one
  unsafe_best_match,   ///< the newest version of any
};

}  // namespace axle::index

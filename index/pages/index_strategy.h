#pragma once

#include <cstdint>

namespace axle::index {

/// Which of several indexes provides the versions of a package; the names are uv's.
enum class IndexStrategy : std::uint8_t {
  first_index,         ///< only the first index that has a page for the project
  unsafe_first_match,  ///< the versions of an earlier index before those of a later one
  unsafe_best_match,   ///< the newest version of any
};

}  // namespace axle::index

#pragma once
// What the writer and the reader of profiles must agree on.

#include <cstddef>

namespace axle::machines {

inline constexpr unsigned profile_schema_version = 1;

// Bounds for files that may come from anywhere.
inline constexpr std::size_t largest_profile = std::size_t{1} << 20;  ///< bytes
inline constexpr std::size_t longest_text = 4096;                     ///< bytes of one string
inline constexpr std::size_t most_items = 1024;                       ///< GPUs, problems
inline constexpr int deepest_nesting = 8;

}  // namespace axle::machines

#pragma once
// Shared by the writer and the reader of profiles.

#include <cstddef>
#include <utility>

#include "machines/profile.h"

namespace axle::machines {

inline constexpr unsigned profile_schema_version = 2;

// Limits for files from untrusted sources.
inline constexpr std::size_t largest_profile = std::size_t{1} << 20;  ///< bytes
inline constexpr std::size_t longest_text = 4096;                     ///< bytes of one string
inline constexpr std::size_t most_items = 1024;                       ///< GPUs, problems
inline constexpr std::size_t most_answers = 16384;  ///< of one kind in a recording
inline constexpr int deepest_nesting = 8;

/// What is wrong with the origin of a schema 2 profile: the key, and what is expected there. Null
/// if it is valid.
[[nodiscard]] std::pair<const char*, const char*> explain_origin(const ProfileOrigin& origin);

}  // namespace axle::machines

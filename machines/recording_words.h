#pragma once
// The words of recordings, for their reader and their writer.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "detect/record/recording.h"
#include "machines/profile_schema.h"

namespace axle::machines::words {

/// Valid keys of a file, folder, link or command. Relative paths too: LD_LIBRARY_PATH=lib.
[[nodiscard]] inline bool is_path(std::string_view path) {
  return !path.empty() && path.size() <= longest_text &&
         std::ranges::none_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

using Texts = std::map<std::string, std::string>;

inline constexpr std::array accesses{std::pair{detect::Access::exists, "none"},
                                     std::pair{detect::Access::read, "r"},
                                     std::pair{detect::Access::read_write, "rw"}};
inline constexpr std::array ends{std::pair{detect::DriverAnswer::End::finished, "finished"},
                                 std::pair{detect::DriverAnswer::End::crashed, "crashed"},
                                 std::pair{detect::DriverAnswer::End::timed_out, "timed_out"},
                                 std::pair{detect::DriverAnswer::End::not_started, "not_started"}};

}  // namespace axle::machines::words

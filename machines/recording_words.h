#pragma once
// The words of recordings, for their reader and their writer.

#include <array>
#include <map>
#include <string>
#include <utility>

#include "detect/recording.h"

namespace axle::machines::words {

using Texts = std::map<std::string, std::string>;

inline constexpr std::array accesses{std::pair{detect::Access::exists, "none"},
                                     std::pair{detect::Access::read, "r"},
                                     std::pair{detect::Access::read_write, "rw"}};
inline constexpr std::array ends{std::pair{detect::DriverAnswer::End::finished, "finished"},
                                 std::pair{detect::DriverAnswer::End::crashed, "crashed"},
                                 std::pair{detect::DriverAnswer::End::timed_out, "timed_out"},
                                 std::pair{detect::DriverAnswer::End::not_started, "not_started"}};

}  // namespace axle::machines::words

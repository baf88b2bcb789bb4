#pragma once
// The names of files inside wheels: one rule for what the reader takes and the writer makes.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axle::wheel {

/// Why `name` may not stand in a wheel, as the end of a sentence ("has …"); empty when it may. A
/// name is relative, "/"-separated, valid UTF-8, without control characters, backslashes, drive
/// letters and parts that are empty, ".", ".." or longer than a file system takes. One final "/"
/// means a folder.
[[nodiscard]] std::string member_name_problem(std::string_view name);

struct NameCollision {
  std::size_t first;  ///< indices into the names, first < second
  std::size_t second;
  bool nested;  ///< one is a file, the other a folder of this name or below it; else equal but for
                ///< case, or for dots and blanks at the end of a part
};

/// Finds two names that cannot both be unpacked, on any file system: equal, equal without ASCII
/// case, equal without the dots and blanks at the ends of their parts (which Windows drops), or one
/// a file and the other a path below it.
[[nodiscard]] std::optional<NameCollision> find_name_collision(
    const std::vector<std::string_view>& names);

}  // namespace axle::wheel

#pragma once
// The files of a thing, with what shows whether another program has changed them since.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "foundation/report/error.h"

namespace axle::installer {

struct Leaf {
  std::string path;  ///< below the thing; empty: the thing itself is a file
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds
  friend auto operator<=>(const Leaf&, const Leaf&) = default;
};
using Leaves = std::vector<Leaf>;

/// The name of a file or a folder among those in one folder.
struct LeafName {
  std::string_view name;
  bool is_folder = false;
};
/// The order in which the paths of all leaves are sorted: those in a folder have a slash behind its
/// name.
[[nodiscard]] bool comes_before(const LeafName& left, const LeafName& right);

/// The leaf at `path`, with its `status`.
[[nodiscard]] Leaf leaf_of(std::string path, const struct stat& status);

/// The files and links of `thing`, a file or a folder, sorted; without byte code. Empty if there is
/// nothing. Error: io.
[[nodiscard]] Result<Leaves> list_leaves(const std::string& thing);

/// Whether every file of `present` is in `known`, unchanged. Both sorted.
[[nodiscard]] bool has_only(const Leaves& present, const Leaves& known);

/// Moves the files of `known` that are unchanged from the thing `from` to `to`, with their byte
/// code, and removes the folders that become empty. Everything else stays.
[[nodiscard]] Result<void> move_known(const std::string& from, const std::string& to,
                                      const Leaves& known);

}  // namespace axle::installer

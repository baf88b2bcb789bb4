#pragma once
// Renames of files and whole folders that can be repeated after a kill at any point.

#include <string>
#include <vector>

namespace axle::installer {

/// Renames without ever replacing anything; makes the folder above `to` when it is gone.
/// Returns an errno, 0 for success; EEXIST when `to` is taken, ENOENT when `from` is missing.
[[nodiscard]] int move_thing(const std::string& from, const std::string& to);

/// Moves what `from` holds into `to`, entry by entry, and removes `from`: for folders that cannot
/// be renamed as a whole (overlayfs: a folder of a lower layer; or there is one at `to`). May be
/// repeated until it succeeds. Where a place is taken, the entry stays and the place is added to
/// `taken`.
[[nodiscard]] int move_entries(const std::string& from, const std::string& to,
                               std::vector<std::string>& taken);

}  // namespace axle::installer

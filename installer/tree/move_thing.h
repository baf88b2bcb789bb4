#pragma once
// Renames of files and whole folders that can be repeated after a kill at any point.

#include <string>
#include <vector>

namespace axle::installer {

/// Renames without replacing anything; creates the parent folder of `to` if it is gone. Returns an
/// errno, 0 for success; EEXIST if `to` exists, ENOENT if `from` is missing.
[[nodiscard]] int move_thing(const std::string& from, const std::string& to);

/// Moves the content of `from` into `to`, entry by entry, and removes `from`: for folders that
/// cannot be renamed as a whole (overlayfs: a folder of a lower layer; or `to` exists). May be
/// repeated until it succeeds. If a path is taken, the entry stays and the path is added to
/// `taken`.
[[nodiscard]] int move_entries(const std::string& from, const std::string& to,
                               std::vector<std::string>& taken);

}  // namespace axle::installer

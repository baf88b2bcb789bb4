#pragma once
// Deleting as far as the rights go.

#include <string>

namespace axle::installer {

/// Removes `path` and what is below it, following no link. What cannot be removed is skipped,
/// all else leaves. Returns the first errno met, 0 when nothing is left.
[[nodiscard]] int remove_tree(const std::string& path);

}  // namespace axle::installer

#pragma once
// Deletes as far as permissions allow.

#include <string>

namespace axle::installer {

/// Removes `path` and everything below it, without following links. What cannot be removed is
/// skipped. Returns the first errno, 0 if nothing is left.
[[nodiscard]] int remove_tree(const std::string& path);

}  // namespace axle::installer

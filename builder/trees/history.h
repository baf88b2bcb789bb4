#pragma once
// What version control says of a project, as far as versions are made of it.

#include <string>

namespace axle::builder {

/// A hash of Git's checked-out commit and of its tags; empty: `folder` is not the beginning of a
/// working tree. The same after `git gc`, which packs names into one file.
[[nodiscard]] std::string history_of(const std::string& folder);

}  // namespace axle::builder

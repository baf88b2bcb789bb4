#pragma once
// The project of a file, determined from its name only: for folders and link pages.

#include <string_view>

namespace axle::index {

/// `project` is normalised. Wheels and variants files by their first part; for "a-b-1.0.tar.gz"
/// every split whose right side is a version is tried.
[[nodiscard]] bool belongs_to(std::string_view file_name, std::string_view project);

}  // namespace axle::index

#pragma once
// Which project a file belongs to, by its name alone: what folders and link pages go by.

#include <string_view>

namespace axle::index {

/// `project` is normalised. Wheels and variants files by their first part; of "a-b-1.0.tar.gz"
/// every split whose right side is a version is tried.
[[nodiscard]] bool belongs_to(std::string_view file_name, std::string_view project);

}  // namespace axle::index

#pragma once
// The pages that list the projects of an index for people: one, or of a large index one for each
// beginning of a name, so that none has more names than somebody reads and a change writes few.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/browse/page_frame.h"

namespace axle::index {

inline constexpr std::string_view first_page = "index.html";

/// More names than that are divided.
inline constexpr std::size_t most_listed_projects = 1000;

/// Names with the same beginning: all in [begin, end) of the sorted names.
struct NameGroup {
  std::string beginning;
  std::size_t begin;
  std::size_t end;
};

/// One with an empty beginning if there are few.
[[nodiscard]] std::vector<NameGroup> group_names(std::span<const std::string> sorted);

/// All list pages; `projects`: sorted.
[[nodiscard]] std::vector<SharedFile> render_list_pages(std::span<const std::string> projects);

struct ListChange {
  std::vector<SharedFile> written;
  std::vector<std::string> gone;  ///< paths
};
/// Those of `after` that are others than of `before`.
[[nodiscard]] ListChange change_list_pages(std::span<const std::string> before,
                                           std::span<const std::string> after);

}  // namespace axle::index

#pragma once
// The pages of a static index, JSON (PEP 691, 700) and HTML (PEP 503) with equal content. Links are
// relative, so that the folder can be served from anywhere.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axle::index {

/// One file as a page lists it; `sha256` of the core metadata empty if there is none.
struct ListedFile {
  std::string filename;
  std::string sha256;
  std::uint64_t size = 0;
  std::string requires_python;
  std::string metadata_sha256;
  bool has_provenance = false;      ///< beside it: provenance_name
  std::string url = {};             ///< of a file that is elsewhere; empty: beside the page
  std::string provenance_url = {};  ///< the same of its attestations
  std::optional<std::int64_t> uploaded = {};  ///< PEP 700: microseconds since 1970, UTC
  std::optional<std::string> yanked = {};     ///< PEP 592: why, perhaps without a word

  friend bool operator==(const ListedFile&, const ListedFile&) = default;
};

/// The file with the attestations of another, beside it.
[[nodiscard]] inline std::string provenance_name(std::string_view filename) {
  return std::string(filename) + ".provenance";
}

/// Of an index or a project, by its path in the index.
[[nodiscard]] inline bool is_index_page(std::string_view path) {
  return path.ends_with("/index.json") || path.ends_with("/index.html");
}

/// Pages for people (index/browse): of a project, or with links to projects.
[[nodiscard]] inline bool is_project_page(std::string_view path) {
  return path.ends_with("/page.html");
}
[[nodiscard]] inline bool is_list_page(std::string_view path) {
  return path == "index.html" || path.starts_with("page/list-");
}
/// What these pages share is renewed when their script is of another version: it is written after
/// the rest.
[[nodiscard]] inline bool is_page_script(std::string_view path) { return path == "page/script.js"; }

[[nodiscard]] std::string render_project_json(std::string_view project,
                                              const std::vector<std::string>& versions,
                                              const std::vector<ListedFile>& files);
[[nodiscard]] std::string render_project_html(std::string_view project,
                                              const std::vector<ListedFile>& files);
[[nodiscard]] std::string render_root_json(const std::vector<std::string>& projects);
[[nodiscard]] std::string render_root_html(const std::vector<std::string>& projects);

}  // namespace axle::index

#include "session/settings/uv_project.h"

#include <filesystem>
#include <optional>

#include <fmt/core.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "foundation/documents/toml_reader.h"
#include "session/settings/configuration_files.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// nullopt if the file does not exist.
Outcome<std::optional<toml::table>> read_pyproject(const fs::path& folder) {
  const std::string path = (folder / "pyproject.toml").string();
  auto text = read_configuration(path);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  auto table = documents::parse_toml(**text, path);
  if (table) return std::move(*table);
  return misused(table.error().message,
                 "its [tool.uv] may set an index or a limit: fix it, or remove it");
}

bool matches_any(const toml::node_view<const toml::node> patterns, const std::string& path) {
  const toml::array* list = patterns.as_array();
  if (list == nullptr) return false;
  for (const toml::node& node : *list) {
    const auto pattern = node.value<std::string>();
    if (!pattern) continue;
    const int flags = pattern->contains("**") ? 0 : FNM_PATHNAME;
    if (::fnmatch(pattern->c_str(), path.c_str(), flags) == 0) return true;
  }
  return false;
}

/// Where the search begins: like uv, at the workspace of the project, if there is a project.
Outcome<fs::path> first_folder(const fs::path& here) {
  for (fs::path folder = here;; folder = folder.parent_path()) {
    const auto table = read_pyproject(folder);
    if (!table) return std::unexpected(table.error());
    if (*table) {
      const toml::table& found = **table;
      const auto uv = found["tool"]["uv"];
      if (!uv["managed"].value_or(true)) return here;
      if (uv["workspace"].is_table()) return folder;
      if (!found["project"].is_table()) return here;
      auto root = workspace_of(folder.string());
      if (!root) return std::unexpected(root.error());
      return fs::path(*root);
    }
    if (folder == folder.parent_path()) return here;
  }
}

}  // namespace

Outcome<std::string> workspace_of(const std::string& folder) {
  for (fs::path root = folder; root != root.parent_path();) {
    root = root.parent_path();
    const auto table = read_pyproject(root);
    if (!table) return std::unexpected(table.error());
    if (!*table) continue;
    const toml::table& found = **table;
    const auto workspace = found["tool"]["uv"]["workspace"];
    if (!workspace.is_table()) continue;
    const std::string member = fs::path(folder).lexically_relative(root).string();
    const bool is_member =
        matches_any(workspace["members"], member) && !matches_any(workspace["exclude"], member);
    return is_member ? root.string() : folder;
  }
  return folder;
}

Outcome<std::string> find_uv_project() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return std::string();
  const auto first = first_folder(here);
  if (!first) return std::unexpected(first.error());
  for (fs::path folder = *first;; folder = folder.parent_path()) {
    const std::string own = (folder / "uv.toml").string();
    struct stat status{};
    if (::stat(own.c_str(), &status) == 0) return own;
    const auto table = read_pyproject(folder);
    if (!table) return std::unexpected(table.error());
    if (*table) {
      const toml::table& found = **table;
      if (found["tool"]["uv"]) return (folder / "pyproject.toml").string();
    }
    if (folder == folder.parent_path()) return std::string();
  }
}

}  // namespace axle::session

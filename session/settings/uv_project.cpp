#include "session/settings/uv_project.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/core.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "foundation/documents/toml_reader.h"
#include "index/http/url.h"
#include "session/input_file.h"
#include "session/settings/configuration_files.h"
#include "wheel/requirement.h"

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

/// As uv has it, `*` stands for folders within folders, too, where it excludes.
enum class Stars : std::uint8_t { one_folder, any_depth };

bool matches_any(const toml::node_view<const toml::node> patterns, const std::string& path,
                 Stars stars) {
  const toml::array* list = patterns.as_array();
  if (list == nullptr) return false;
  for (const toml::node& node : *list) {
    const auto pattern = node.value<std::string>();
    if (!pattern) continue;
    const int flags = stars == Stars::any_depth || pattern->contains("**") ? 0 : FNM_PATHNAME;
    std::string plain = fs::path(*pattern).lexically_normal().string();
    if (plain.ends_with('/')) plain.pop_back();
    if (::fnmatch(plain.c_str(), path.c_str(), flags) == 0) return true;
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

/// The folders that `pattern` leads to from `folder`, as uv's globs do: `**` for any depth.
void expand(const fs::path& folder, std::string_view pattern, std::set<fs::path>& into) {
  if (pattern.empty()) {
    into.insert(folder);
    return;
  }
  const std::size_t slash = std::min(pattern.find('/'), pattern.size());
  const std::string part(pattern.substr(0, slash));
  const std::string_view rest = pattern.substr(std::min(slash + 1, pattern.size()));
  if (part.empty() || part == ".") return expand(folder, rest, into);
  if (part == "..") return expand(folder.parent_path(), rest, into);
  if (part == "**") expand(folder, rest, into);
  note_looked_at(folder.string());
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code unknown;
    if (name.starts_with('.') || !entry->is_directory(unknown)) continue;
    if (part == "**") {
      if (!entry->is_symlink(unknown)) expand(entry->path(), pattern, into);
    } else if (::fnmatch(part.c_str(), name.c_str(), 0) == 0) {
      expand(entry->path(), rest, into);
    }
  }
}

/// Of the workspace with that root: its own project, too. By normalised names.
Outcome<std::map<std::string, std::string, std::less<>>> members_of(const std::string& root) {
  std::map<std::string, std::string, std::less<>> members;
  const auto table = read_pyproject(root);
  if (!table) return std::unexpected(table.error());
  if (!*table) return members;
  const toml::table& found = **table;
  const auto workspace = found["tool"]["uv"]["workspace"];
  std::set<fs::path> folders = {root};
  if (const toml::array* const patterns = workspace["members"].as_array()) {
    for (const toml::node& pattern : *patterns)
      expand(root, pattern.value_or(std::string()), folders);
  }
  for (const fs::path& folder : folders) {
    const std::string place = folder.lexically_relative(root).string();
    if (matches_any(workspace["exclude"], place, Stars::any_depth)) continue;
    const auto project = read_pyproject(folder);
    if (!project) return std::unexpected(project.error());
    if (!*project) continue;
    const toml::table& text = **project;
    const auto name = text["project"]["name"].value<std::string>();
    if (!name) continue;
    const auto [known, is_new] = members.emplace(wheel::normalize_name(*name), folder.string());
    if (!is_new)
      return misused(fmt::format("{}: two members of the workspace are called {}: {} and {}", root,
                                 known->first, known->second, folder.string()),
                     "exclude one of them, or give it another name");
  }
  return members;
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
    const bool is_member = matches_any(workspace["members"], member, Stars::one_folder) &&
                           !matches_any(workspace["exclude"], member, Stars::any_depth);
    return is_member ? root.string() : folder;
  }
  return folder;
}

Outcome<void> place_members(std::vector<PackageSource>& sources, const std::string& file) {
  if (std::ranges::none_of(sources, &PackageSource::member)) return {};
  std::error_code ignored;
  const fs::path folder = fs::absolute(file, ignored).lexically_normal().parent_path();
  const auto own = read_pyproject(folder);
  if (!own) return std::unexpected(own.error());
  const bool is_root = *own && (**own)["tool"]["uv"]["workspace"].is_table();
  const auto root = is_root ? folder.string() : workspace_of(folder.string());
  if (!root) return std::unexpected(root.error());
  const auto members = members_of(*root);
  if (!members) return std::unexpected(members.error());
  for (PackageSource& source : sources) {
    if (!source.member || !source.unsupported.empty()) continue;
    const auto member = members->find(source.package);
    if (member == members->end()) {
      source.unsupported = fmt::format("the workspace in {}, and it is none of its members", *root);
    } else {
      source.url = index::file_url(member->second);
      source.relative = true;
    }
  }
  return {};
}

Outcome<std::string> find_uv_project() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return std::string();
  const auto first = first_folder(here);
  if (!first) return std::unexpected(first.error());
  for (fs::path folder = *first;; folder = folder.parent_path()) {
    const std::string own = (folder / "uv.toml").string();
    note_looked_at(own);
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

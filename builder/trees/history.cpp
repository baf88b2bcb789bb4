#include "builder/trees/history.h"

#include <filesystem>
#include <map>
#include <sstream>
#include <system_error>

#include "builder/project_files.h"
#include "wheel/hash/sha256.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

std::string first_line(const fs::path& file) {
  const std::string text = read_file(file.string(), largest_text).value_or("");
  return text.substr(0, text.find('\n'));
}

/// Where ".git" is a file (worktrees, submodules) it names the folder.
fs::path git_folder(const fs::path& place) {
  std::error_code ignored;
  if (fs::is_directory(place, ignored)) return place;
  constexpr std::string_view key = "gitdir: ";
  const std::string line = first_line(place);
  return line.starts_with(key) ? place.parent_path() / line.substr(key.size()) : fs::path();
}

/// A worktree has its names in the repository that it is of.
fs::path names_folder(const fs::path& git) {
  const std::string common = first_line(git / "commondir");
  return common.empty() ? git : git / common;
}

/// Packed names first: a file of its own wins (gitrepository-layout(5)).
std::map<std::string, std::string> names_of(const fs::path& folder) {
  std::map<std::string, std::string> names;
  std::istringstream packed(
      read_file((folder / "packed-refs").string(), largest_text).value_or(""));
  for (std::string line; std::getline(packed, line);) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos && line.front() != '#')
      names[line.substr(blank + 1)] = line.substr(0, blank);
  }
  std::error_code error;
  for (const char* kind : {"refs/heads", "refs/tags"}) {
    for (fs::recursive_directory_iterator it(folder / kind, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code ignored;
      if (fs::is_regular_file(it->path(), ignored))
        names[it->path().lexically_relative(folder).generic_string()] = first_line(it->path());
    }
  }
  return names;
}

}  // namespace

std::string history_of(const std::string& folder) {
  const fs::path git = git_folder(fs::path(folder) / ".git");
  const std::string head = git.empty() ? std::string() : first_line(git / "HEAD");
  if (head.empty()) return {};
  const std::map<std::string, std::string> names = names_of(names_folder(git));
  constexpr std::string_view key = "ref: ";
  std::string text = head + '\n';
  if (head.starts_with(key)) {
    const auto branch = names.find(head.substr(key.size()));
    if (branch != names.end()) text += branch->second + '\n';
  }
  for (const auto& [name, commit] : names) {
    if (name.starts_with("refs/tags/")) text += name + ' ' + commit + '\n';
  }
  return wheel::render_hex(wheel::sha256(text));
}

}  // namespace axle::builder

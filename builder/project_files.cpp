#include "builder/project_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

bool is_cache(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "__pycache__" || name.ends_with(".pyc") || name.ends_with(".pyo") ||
         name == ".DS_Store";
}

// The target of a link, if it is in the tree `root` (canonical).
Result<fs::path> follow_link(const fs::path& link, const fs::path& root) {
  std::error_code error;
  fs::path target = fs::canonical(link, error);
  const bool inside = !error && std::ranges::mismatch(root, target).in1 == root.end();
  if (!inside || !fs::is_regular_file(target, error)) {
    return fail(
        ErrorKind::malformed,
        fmt::format("{}: a link that does not point to a file in its own tree", link.string()),
        "wheels cannot contain links");
  }
  return target;
}

Result<wheel::WheelMember> read_member(const fs::directory_entry& entry, const fs::path& root,
                                       std::string name) {
  std::error_code error;
  fs::path path = entry.path();
  if (entry.is_symlink(error)) {
    auto target = follow_link(path, root);
    if (!target) return std::unexpected(target.error());
    path = std::move(*target);
  } else if (!entry.is_regular_file(error)) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: is neither a file nor a folder", path.string()));
  }
  auto content = read_file(path.string(), largest_member);
  if (!content) return std::unexpected(content.error());
  const fs::perms mode = fs::status(path, error).permissions();
  const bool executable = (mode & fs::perms::owner_exec) != fs::perms::none;
  return wheel::WheelMember{std::move(name), std::move(*content), executable};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return fail(ErrorKind::not_found, fmt::format("{}: no such file", path));
  if (!fs::is_regular_file(status)) {
    return fail(ErrorKind::malformed, fmt::format("{}: is not a file", path));
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > limit) {
    return fail(ErrorKind::malformed, fmt::format("{}: larger than {} bytes", path, limit));
  }
  std::ifstream file(path, std::ios::binary);
  std::string content(error ? 0 : static_cast<std::size_t>(size), '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (error || !file || file.peek() != std::ifstream::traits_type::eof()) {
    return fail(ErrorKind::io, fmt::format("{}: cannot be read", path));
  }
  return content;
}

Result<std::string> inside_folder(const std::string& folder, std::string_view relative) {
  const fs::path path(relative);
  const bool leaves = std::ranges::any_of(path, [](const fs::path& part) { return part == ".."; });
  if (relative.empty() || path.is_absolute() || leaves) {
    return fail(ErrorKind::malformed,
                fmt::format("\"{}\" is not a path inside the project", relative),
                "specify it relative to pyproject.toml, without \"..\"");
  }
  return (fs::path(folder) / path).lexically_normal().string();
}

Result<std::vector<wheel::WheelMember>> read_tree(const std::string& folder,
                                                  const std::string& prefix) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error || !fs::is_directory(root)) {
    return fail(ErrorKind::not_found, fmt::format("{}: no such folder", folder));
  }
  std::vector<wheel::WheelMember> members;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    if (is_cache(it->path())) {
      it.disable_recursion_pending();
      continue;
    }
    if (it->is_directory(ignored) && !it->is_symlink(ignored)) continue;
    const std::string inner = it->path().lexically_relative(root).generic_string();
    auto member = read_member(*it, root, prefix.empty() ? inner : prefix + "/" + inner);
    if (!member) return std::unexpected(member.error());
    members.push_back(std::move(*member));
  }
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", folder, error.message()));
  std::ranges::sort(members, {}, &wheel::WheelMember::path);
  return members;
}

}  // namespace axle::builder

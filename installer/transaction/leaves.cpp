#include "installer/transaction/leaves.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "installer/transaction/move_thing.h"

namespace axle::installer {
namespace {

/// `below`: the folder's path below `thing`, empty or with a final slash.
Result<void> add_leaves(int parent, const char* name, const std::string& below,
                        const std::string& thing, Leaves& leaves) {
  const auto cannot_read = [&] {
    return std::unexpected(system_error("read", thing + "/" + below, errno));
  };
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return cannot_read();
  const OpenFolder folder(::fdopendir(fd));
  if (folder == nullptr) {
    const auto refused = cannot_read();
    ::close(fd);
    return refused;
  }
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) return cannot_read();
    if (entry == nullptr) return {};
    const std::string_view child = entry->d_name;
    if (child == "." || child == ".." || child == "__pycache__") continue;
    struct stat status = {};
    if (::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return cannot_read();
    std::string path = below + entry->d_name;
    if (!S_ISDIR(status.st_mode)) {
      leaves.push_back(leaf_of(std::move(path), status));
    } else if (auto added = add_leaves(fd, entry->d_name, path + "/", thing, leaves); !added) {
      return added;
    }
  }
}

/// The folders below `folder` and itself, deepest first, and the byte code folders among them.
Result<void> list_folders(const std::string& folder, std::vector<std::string>& folders,
                          std::vector<std::string>& byte_code) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string path = entry->path().string();
    auto status = look_at(path);
    if (!status) return std::unexpected(status.error());
    if (!*status || !S_ISDIR((*status)->st_mode)) continue;
    if (is_byte_code_folder(path)) {
      byte_code.push_back(std::move(path));
    } else if (auto listed = list_folders(path, folders, byte_code); !listed) {
      return listed;
    }
  }
  if (error) return std::unexpected(system_error("read", folder, error.value()));
  folders.push_back(folder);
  return {};
}

}  // namespace

Leaf leaf_of(std::string path, const struct stat& status) {
  return {std::move(path), static_cast<std::uint64_t>(status.st_size),
          nanoseconds_of(status.st_mtim)};
}

bool is_byte_code_folder(std::string_view path) {
  return path.substr(path.rfind('/') + 1) == "__pycache__";
}

Result<Leaves> list_leaves(const std::string& thing) {
  Leaves leaves;
  const bool byte_code = is_byte_code_folder(thing) ||
                         is_byte_code_folder(std::string_view(thing).substr(0, thing.rfind('/')));
  if (byte_code) return leaves;
  auto status = look_at(thing);
  if (!status) return std::unexpected(status.error());
  if (!*status) return leaves;
  if (!S_ISDIR((*status)->st_mode)) {
    leaves.push_back(leaf_of({}, **status));
    return leaves;
  }
  if (auto added = add_leaves(AT_FDCWD, thing.c_str(), {}, thing, leaves); !added)
    return std::unexpected(added.error());
  std::ranges::sort(leaves);
  return leaves;
}

bool has_only(const Leaves& present, const Leaves& known) {
  return std::ranges::includes(known, present);
}

Result<void> move_known(const std::string& from, const std::string& to, const Leaves& known) {
  const auto present = list_leaves(from);
  if (!present) return std::unexpected(present.error());
  Leaves ours;
  std::ranges::set_intersection(*present, known, std::back_inserter(ours));
  for (const Leaf& leaf : ours) {
    const std::string below = leaf.path.empty() ? std::string() : "/" + leaf.path;
    const int code = move_thing(from + below, to + below);
    if (code != 0 && code != ENOENT)
      return std::unexpected(system_error("move", from + below, code));
  }
  const auto status = look_at(from);
  if (!status) return std::unexpected(status.error());
  if (!*status || !S_ISDIR((*status)->st_mode)) return {};
  std::vector<std::string> folders;
  std::vector<std::string> byte_code;
  if (auto listed = list_folders(from, folders, byte_code); !listed) return listed;
  for (const std::string& folder : byte_code) {
    const int code = move_thing(folder, to + folder.substr(from.size()));
    if (code != 0 && code != ENOENT) return std::unexpected(system_error("move", folder, code));
  }
  for (const std::string& folder : folders) (void)::rmdir(folder.c_str());
  return {};
}

}  // namespace axle::installer

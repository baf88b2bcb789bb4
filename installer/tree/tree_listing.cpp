#include "installer/tree/tree_listing.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "installer/try_each.h"

namespace axle::installer {
namespace {

constexpr unsigned folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Where openat2 is missing (Linux before 5.6) or a sandbox forbids it: one component at a time.
Descriptor open_by_steps(int top, std::string_view below) {
  Descriptor folder(::openat(top, ".", folder_flags));
  while (folder && !below.empty()) {
    const std::size_t slash = below.find('/');
    folder = Descriptor(
        ::openat(folder.get(), std::string(below.substr(0, slash)).c_str(), folder_flags));
    below.remove_prefix(slash + 1);
  }
  return folder;
}

/// The folders in it, and `files`. Error: an errno.
std::expected<std::vector<std::string>, int> read_folder(Descriptor folder,
                                                         std::vector<std::string>& files) {
  std::vector<std::string> folders;
  const int fd = folder.get();
  const OpenFolder opened(::fdopendir(fd));
  if (opened == nullptr) return std::unexpected(errno);
  (void)folder.release();  // `opened` closes it
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(opened.get());
    if (entry == nullptr && errno != 0) return std::unexpected(errno);
    if (entry == nullptr) return folders;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    bool is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat status = {};
      if (::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return std::unexpected(errno);
      is_folder = S_ISDIR(status.st_mode);
    }
    (is_folder ? folders : files).emplace_back(name);
  }
}

}  // namespace

Descriptor open_below(int top, const std::string& below) {
  if (below.empty()) return open_by_steps(top, below);
  const open_how how = {folder_flags, 0, RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};
  Descriptor folder(static_cast<int>(::syscall(SYS_openat2, top, below.c_str(), &how, sizeof how)));
  if (!folder && (errno == ENOSYS || errno == EPERM || errno == EAGAIN || errno == ENAMETOOLONG))
    return open_by_steps(top, below);
  return folder;
}

Result<TreeListing> TreeListing::read(const std::string& top, std::string_view skipped) {
  auto opened = open_folder(top);
  if (!opened) return std::unexpected(opened.error());
  TreeListing listing(top, std::move(*opened));
  std::vector<TreeFolder> level(1);
  while (!level.empty()) {
    std::vector<std::vector<std::string>> inner(level.size());
    auto done = try_each(level.size(), [&](std::size_t i) -> Result<void> {
      Descriptor folder = open_below(listing.top(), level[i].below);
      auto folders = folder ? read_folder(std::move(folder), level[i].files)
                            : std::expected<std::vector<std::string>, int>(std::unexpected(errno));
      if (!folders) {
        return std::unexpected(system_error("read", top + "/" + level[i].below, folders.error()));
      }
      inner[i] = std::move(*folders);
      return {};
    });
    if (!done) return std::unexpected(std::move(done.error()));
    std::vector<TreeFolder> next;
    for (std::size_t i = 0; i < level.size(); ++i) {
      for (const std::string& name : inner[i])
        if (name != skipped) next.push_back({level[i].below + name + "/", {}});
    }
    std::ranges::move(level, std::back_inserter(listing.folders_));
    level = std::move(next);
  }
  std::size_t files = 0;
  for (const TreeFolder& folder : listing.folders_) {
    listing.first_.push_back(files);
    files += folder.files.size();
  }
  listing.first_.push_back(files);
  return listing;
}

Result<void> TreeListing::for_each_file(
    const std::function<Result<void>(const File& file)>& work) const {
  // Most files of a large package may lie in one folder.
  constexpr std::size_t at_a_time = 128;
  struct Batch {
    std::size_t folder;
    std::size_t begin;
  };
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < folders_.size(); ++i) {
    for (std::size_t begin = 0; begin < folders_[i].files.size(); begin += at_a_time)
      batches.push_back({i, begin});
  }
  return try_each(batches.size(), [&](std::size_t i) -> Result<void> {
    const TreeFolder& folder = folders_[batches[i].folder];
    const Descriptor opened = open_below(top(), folder.below);
    if (!opened) return std::unexpected(system_error("read", path_ + "/" + folder.below, errno));
    const std::size_t end = std::min(folder.files.size(), batches[i].begin + at_a_time);
    for (std::size_t file = batches[i].begin; file < end; ++file) {
      auto done =
          work({folder, folder.files[file], first_[batches[i].folder] + file, opened.get()});
      if (!done) return done;
    }
    return {};
  });
}

}  // namespace axle::installer

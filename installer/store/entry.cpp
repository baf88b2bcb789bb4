#include "installer/store/entry.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/store/entry_mark.h"
#include "installer/work_folder.h"

namespace axle::installer {
namespace {

/// The owner of a file can change it, also through a hard link. Root can anyway.
bool may_be_changed_by_others(const struct stat& status) {
  static const uid_t self = ::geteuid();
  return status.st_uid != self && status.st_uid != 0;
}

/// Another program's entry is not replaced: it may have what this one knows nothing of.
Result<void> refuse_newer(const std::string& folder) {
  const auto text = read_file(folder + "/manifest", 1ULL << 30);
  if (!text || !is_newer_manifest(*text)) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("{} is of a later version of Axle, and left as it is", folder),
              "use that version, another cache with --cache-dir, or none with --no-cache");
}

/// Compares it, and notes its current values. `device`: of the tree.
bool is_unchanged(const Descriptor& tree, dev_t device, StoredFile& file, EntryCheck check) {
  struct stat status = {};
  if (::fstatat(tree.get(), file.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != file.size ||
      status.st_mtim.tv_sec != file.modified || may_be_changed_by_others(status)) {
    return false;
  }
  file.mode = status.st_mode & 07777U;
  file.modified_now = nanoseconds_of(status.st_mtim);
  file.inode = status.st_dev == device ? status.st_ino : 0;
  if (check != EntryCheck::content) return true;
  const auto hash = hash_file(tree.get(), file.path);
  return hash && *hash == file.sha256;
}

}  // namespace

std::optional<StoreEntry> find_entry(const std::string& folder, EntryCheck check,
                                     std::string* changed) {
  auto text = read_file(folder + "/manifest", 1ULL << 30);
  if (!text) return std::nullopt;
  const bool doubtful = may_be_damaged(folder);
  if (doubtful) check = EntryCheck::content;
  auto manifest = parse_manifest(*text, folder);
  const auto tree = open_folder(folder + "/tree");
  if (!manifest || !tree) return std::nullopt;
  for (const char* part : {"", "/manifest", "/tree"}) {
    const auto status = look_at(folder + part);
    if (!status || !*status || may_be_changed_by_others(**status)) return std::nullopt;
  }
  struct stat top = {};
  if (::fstat(tree->get(), &top) != 0) return std::nullopt;
  const dev_t device = top.st_dev;
  constexpr std::size_t at_a_time = 256;
  std::vector<StoredFile>& files = manifest->files;
  std::atomic<bool> unchanged = true;
  std::atomic<std::size_t> first_changed = files.size();
  system::for_each_at_once((files.size() + at_a_time - 1) / at_a_time, system::usable_processors(),
                           [&](std::size_t batch) {
                             const std::size_t end =
                                 std::min(files.size(), (batch + 1) * at_a_time);
                             for (std::size_t i = batch * at_a_time; i < end && unchanged; ++i)
                               if (!is_unchanged(*tree, device, files[i], check)) {
                                 first_changed = i;
                                 unchanged = false;
                               }
                           });
  if (!unchanged) {
    if (changed != nullptr && !doubtful) *changed = files[first_changed].path;
    return std::nullopt;
  }
  if (doubtful) forget_unflushed_entry(folder);
  return StoreEntry{std::move(*manifest), folder + "/tree"};
}

Result<StoreEntry> enter(const std::string& made, const std::string& folder, Manifest manifest,
                         const WorkFolder& work, EntryCheck check) {
  if (auto done = create_file(AT_FDCWD, made + "/manifest", render_manifest(manifest), false);
      !done) {
    return std::unexpected(done.error());
  }
  const std::string above = folder.substr(0, folder.rfind('/'));
  if (::mkdir(above.c_str(), 0777) != 0 && errno != EEXIST)
    return std::unexpected(system_error("create", above, errno));
  for (int attempt = 0; ::rename(made.c_str(), folder.c_str()) != 0; ++attempt) {
    if ((errno != EEXIST && errno != ENOTEMPTY) || attempt == 3)
      return std::unexpected(system_error("create", folder, errno));
    // Another command may have been faster.
    if (auto there = find_entry(folder, check)) return std::move(*there);
    if (auto old = refuse_newer(folder); !old) return std::unexpected(std::move(old.error()));
    const std::string away = fmt::format("{}/evicted-{}", work.path(), attempt);
    if (::rename(folder.c_str(), away.c_str()) != 0 && errno != ENOENT)
      return std::unexpected(system_error("replace", folder, errno));
  }
  return StoreEntry{std::move(manifest), folder + "/tree"};
}

}  // namespace axle::installer

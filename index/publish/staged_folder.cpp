#include "index/publish/staged_folder.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/file_lock.h"
#include "foundation/system/newer_calls.h"
#include "index/publish/copied_file.h"

namespace axle::index {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view moved_away = ".old";
/// As for a change of an index that is there (folder_lock.cpp).
constexpr auto patience = std::chrono::minutes(1);
constexpr auto pause = std::chrono::milliseconds(20);

std::string staging_prefix(const fs::path& target) {
  return '.' + target.filename().string() + ".staged-";
}

using system::Descriptor;

/// operation_would_block: another process holds it.
std::expected<Descriptor, std::error_code> open_locked(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return std::unexpected(system::last_error());
  if (const std::error_code error = system::try_lock(folder)) return std::unexpected(error);
  return folder;
}

/// Only held briefly, while staged folders are checked and created.
Result<void> lock_for_a_moment(const Descriptor& folder, const fs::path& path) {
  constexpr auto moment = std::chrono::seconds(10);
  const auto deadline = std::chrono::steady_clock::now() + moment;
  while (const std::error_code error = system::try_lock(folder)) {
    if (error != std::errc::operation_would_block)
      return system_failure("lock", path, error.value());
    if (std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorKind::io, fmt::format("{} is locked by another program", path.string()),
                  "stop it, or choose another folder");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

/// If the file system cannot exchange two folders, a killed run may have moved the target away.
Result<void> put_back(const fs::path& moved, const fs::path& target) {
  if (::renameat2(AT_FDCWD, moved.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) {
    return {};
  }
  struct stat status = {};
  const bool gone = ::lstat(target.c_str(), &status) != 0 && errno == ENOENT;
  if (gone && ::rename(moved.c_str(), target.c_str()) != 0) {
    return system_failure("put back", target, errno);
  }
  return {};
}

/// A staged folder that is not locked belongs to a run that was killed. False: another run writes
/// to the target.
Result<bool> remove_abandoned(const fs::path& target) {
  const std::string prefix = staging_prefix(target);
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(target.parent_path(), error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().string().starts_with(prefix)) found.push_back(entry->path());
  }
  for (const fs::path& path : found) {
    const auto held = open_locked(path);
    if (!held && held.error() == std::errc::operation_would_block) return false;
  }
  for (const fs::path& path : found) {
    if (path.extension() == moved_away) {
      if (Result<void> back = put_back(path, target); !back) return std::unexpected(back.error());
    }
    const auto held = open_locked(path);
    std::error_code ignored;
    if (held) fs::remove_all(path, ignored);
  }
  return true;
}

/// The lock on `folder`, with no other run that writes to the target.
Result<Descriptor> wait_for_others(const fs::path& parent, const fs::path& target) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    Descriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) return system_failure("open", parent, errno);
    if (auto locked = lock_for_a_moment(folder, parent); !locked)
      return std::unexpected(std::move(locked.error()));
    const auto alone = remove_abandoned(target);
    if (!alone) return std::unexpected(alone.error());
    if (*alone) return folder;
    if (std::chrono::steady_clock::now() > deadline) {
      return fail(
          ErrorKind::io,
          fmt::format("another process is writing to {}; nothing was changed", target.string()),
          "run the command again when it has finished");
    }
    folder = Descriptor();
    std::this_thread::sleep_for(pause);
  }
}

/// The mode of the folder that is replaced, or that of a new one.
mode_t mode_of(const std::string& target) {
  struct stat status = {};
  const bool there = ::stat(target.c_str(), &status) == 0;
  return there ? status.st_mode & 07777 : 0755;
}

}  // namespace

Result<StagedFolder> StagedFolder::create_beside(std::string target) {
  const fs::path parent = fs::path(target).parent_path();
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return system_failure("create", parent, error.value());
  const auto folder = wait_for_others(parent, target);
  if (!folder) return std::unexpected(folder.error());
  std::string path = parent / (staging_prefix(target) + "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) return system_failure("create a folder in", parent, errno);
  auto lock = open_locked(path);
  const int number = lock ? 0 : lock.error().value();
  // From here on the folder is removed with the object.
  StagedFolder staged(std::move(target), std::move(path), lock ? std::move(*lock) : Descriptor());
  if (number != 0) return system_failure("lock", staged.path_, number);
  if (::chmod(staged.path_.c_str(), mode_of(staged.target_)) != 0) {
    return system_failure("set the mode of", staged.path_, errno);
  }
  return staged;
}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)) {}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<void> StagedFolder::make_parent(const std::string& path) const {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return system_failure("create the folder of", path, error.value());
  return {};
}

Result<void> StagedFolder::write(std::string_view relative, std::string_view content) {
  const std::string path = fmt::format("{}/{}", path_, relative);
  if (Result<void> made = make_parent(path); !made) return made;
  return write_new_file(path, content);
}

Result<void> StagedFolder::copy(const std::string& file, std::string_view relative) {
  const std::string path = fmt::format("{}/{}", path_, relative);
  if (Result<void> made = make_parent(path); !made) return made;
  return copy_to_new_file(file, path);
}

Result<void> StagedFolder::link(const std::string& file, std::string_view relative) {
  const std::string path = fmt::format("{}/{}", path_, relative);
  if (Result<void> made = make_parent(path); !made) return made;
  if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, path.c_str(), 0) == 0) return {};
  return copy(file, relative);
}

Result<void> StagedFolder::swap() {
  if (::rename(path_.c_str(), target_.c_str()) == 0) {  // nothing exists, or an empty folder
    path_.clear();
    return {};
  }
  if (errno != ENOTEMPTY && errno != EEXIST) return system_failure("replace", target_, errno);
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    return {};  // `path_` is the old content now
  }
  if (errno != EINVAL && errno != ENOSYS) return system_failure("replace", target_, errno);
  // A file system without exchange: briefly there is nothing, and after a failure the old content
  // is restored.
  const std::string old = path_ + std::string(moved_away);
  if (::rename(target_.c_str(), old.c_str()) != 0) return system_failure("replace", target_, errno);
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    const int number = errno;
    ::rename(old.c_str(), target_.c_str());
    return system_failure("replace", target_, number);
  }
  path_ = old;
  return {};
}

Result<void> StagedFolder::put_in_place() {
  if (::syncfs(lock_.get()) != 0) return system_failure("write", path_, errno);
  if (Result<void> swapped = swap(); !swapped) return swapped;
  const fs::path parent = fs::path(target_).parent_path();
  const Descriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder && ::fsync(folder.get()) != 0) return system_failure("write", parent, errno);
  return {};
}

}  // namespace axle::index

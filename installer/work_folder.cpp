#include "installer/work_folder.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/file_lock.h"

namespace axle::installer {
namespace {

/// Folders of other users are left alone: the place may be shared by everybody.
bool is_own(const Descriptor& folder) {
  struct stat status = {};
  return ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid();
}

void remove_abandoned(const std::string& place, std::string_view prefix) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(place, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(prefix)) continue;
    const auto folder = open_folder(entry->path().string());
    if (!folder || !is_own(*folder) || system::try_lock_left(*folder)) continue;
    std::error_code ignored;
    std::filesystem::remove_all(entry->path(), ignored);
  }
}

}  // namespace

Result<WorkFolder> WorkFolder::create(const std::string& place, std::string_view prefix) {
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error) return std::unexpected(system_error("create", place, error.value()));
  remove_abandoned(place, prefix);
  while (true) {
    std::string path = place + "/" + std::string(prefix) + "XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return std::unexpected(system_error("create a folder in", place, errno));
    }
    auto folder = open_folder(path);
    // Between the two calls another process may consider the folder abandoned.
    const std::error_code refused = folder ? system::try_lock(*folder) : std::error_code();
    const auto there = exists(path);
    if (!there) return std::unexpected(there.error());
    if (!*there) continue;
    if (!folder) return std::unexpected(folder.error());
    // Where there are no locks nobody considers it abandoned.
    if (!refused || system::has_no_locks(refused))
      return WorkFolder(std::move(path), std::move(*folder));
    if (refused != std::errc::operation_would_block)
      return std::unexpected(system_error("lock", path, refused.value()));
  }
}

Result<std::optional<WorkFolder>> WorkFolder::take_over(const std::string& place,
                                                        const std::string& name) {
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error) return std::unexpected(system_error("create", place, error.value()));
  std::string path = place + "/" + name;
  if (const auto above = open_folder(place); !above || system::is_on_nfs(*above))
    return std::nullopt;
  while (true) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return std::unexpected(system_error("create", path, errno));
    auto folder = open_folder(path);
    if (!folder) return std::nullopt;
    struct stat own = {};
    if (::fstat(folder->get(), &own) != 0 || own.st_uid != ::geteuid() ||
        (own.st_mode & (S_IWGRP | S_IWOTH)) != 0 || system::try_lock(*folder)) {
      return std::nullopt;
    }
    // Before it was locked, whoever had it may have removed it.
    const auto there = look_at(path);
    if (!there) return std::unexpected(there.error());
    if (*there && (*there)->st_ino == own.st_ino && (*there)->st_dev == own.st_dev)
      return WorkFolder(std::move(path), std::move(*folder));
  }
}

WorkFolder::~WorkFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace axle::installer

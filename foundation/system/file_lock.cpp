#include "foundation/system/file_lock.h"

#include <cerrno>
#include <ctime>

#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>

namespace axle::system {
namespace {

std::error_code lock_with(const Descriptor& file, int operation) {
  while (::flock(file.get(), operation) != 0) {
    if (errno != EINTR) return last_error();
  }
  return {};
}

int operation_of(Lock lock) { return lock == Lock::shared ? LOCK_SH : LOCK_EX; }

}  // namespace

std::error_code try_lock(const Descriptor& file, Lock lock) {
  return lock_with(file, operation_of(lock) | LOCK_NB);
}

std::error_code try_lock_left(const Descriptor& folder) {
  constexpr std::time_t week = 7 * 86400;
  struct stat status = {};
  if (is_on_nfs(folder) &&
      (::fstat(folder.get(), &status) != 0 || std::time(nullptr) - status.st_mtime < week))
    return std::make_error_code(std::errc::operation_would_block);
  return try_lock(folder);
}

bool has_no_locks(const std::error_code& refused) {
  return refused == std::errc::no_lock_available || refused == std::errc::operation_not_supported ||
         refused == std::errc::function_not_supported;
}

bool is_on_nfs(const Descriptor& folder) {
  struct statfs status = {};
  return ::fstatfs(folder.get(), &status) == 0 && status.f_type == NFS_SUPER_MAGIC;
}

void unlock(const Descriptor& file) { static_cast<void>(lock_with(file, LOCK_UN)); }

std::error_code wait_for_lock(const Descriptor& file, Lock lock) {
  return lock_with(file, operation_of(lock));
}

}  // namespace axle::system

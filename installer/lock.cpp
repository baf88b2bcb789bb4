#include "installer/lock.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace axle::installer {
namespace {

Result<void> wait_for(int fd, int operation, const std::string& path, Report& report) {
  if (::flock(fd, operation | LOCK_NB) == 0) return {};
  if (errno == EWOULDBLOCK) {
    report.note(
        fmt::format("waiting for another command that works on this environment ({})", path));
  }
  while (::flock(fd, operation) != 0) {
    if (errno != EINTR) return std::unexpected(system_error("lock", path, errno));
  }
  return {};
}

}  // namespace

Result<EnvironmentLock> EnvironmentLock::for_change(const std::string& state_folder,
                                                    Report& report) {
  if (::mkdir(state_folder.c_str(), 0777) != 0 && errno != EEXIST) {
    return std::unexpected(system_error("create", state_folder, errno));
  }
  const std::string path = state_folder + "/lock";
  // NFS grants an exclusive lock only on a file open for writing.
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file && errno == EACCES) {
    file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  }
  if (!file) return std::unexpected(system_error("create", path, errno));
  if (auto locked = wait_for(file.get(), LOCK_EX, path, report); !locked) {
    return std::unexpected(locked.error());
  }
  return EnvironmentLock(std::move(file));
}

Result<std::optional<EnvironmentLock>> EnvironmentLock::for_reading(const std::string& state_folder,
                                                                    Report& report) {
  const std::string path = state_folder + "/lock";
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return std::unexpected(system_error("open", path, errno));
  }
  if (auto locked = wait_for(file.get(), LOCK_SH, path, report); !locked) {
    return std::unexpected(locked.error());
  }
  return EnvironmentLock(std::move(file));
}

}  // namespace axle::installer

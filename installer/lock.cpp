#include "installer/lock.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "foundation/system/file_lock.h"

namespace axle::installer {
namespace {

Result<void> wait_for(const Descriptor& file, system::Lock lock, const std::string& path,
                      Report& report) {
  const std::error_code tried = system::try_lock(file, lock);
  if (!tried) return {};
  if (tried == std::errc::operation_would_block) {
    report.note(fmt::format("waiting for another command that uses this environment ({})", path));
  }
  const std::error_code error = system::wait_for_lock(file, lock);
  // Who only reads may see a change half made, which a lock cannot prevent here.
  if (!error || (lock == system::Lock::shared && system::has_no_locks(error))) return {};
  Error refused = system_error("lock", path, error.value());
  if (system::has_no_locks(error)) {
    refused.hint =
        "without locks two commands could change the environment at once: mount its file system "
        "with them (Lustre: -o flock; NFS: the lock service), or choose an environment elsewhere "
        "with --python";
  }
  return std::unexpected(std::move(refused));
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
  if (auto locked = wait_for(file, system::Lock::exclusive, path, report); !locked) {
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
  if (auto locked = wait_for(file, system::Lock::shared, path, report); !locked) {
    return std::unexpected(locked.error());
  }
  return EnvironmentLock(std::move(file));
}

}  // namespace axle::installer

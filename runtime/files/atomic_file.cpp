#include "runtime/files/atomic_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace axle::runtime {
namespace {

std::unexpected<Failure> write_failure(const std::string& path, int problem) {
  return failure(AXLE_IO, "%s: cannot be written: %s", path.c_str(), std::strerror(problem));
}

/// A rename is on the disk when its folder is.
Result<void> sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return write_failure(folder, errno);
  // Some file systems cannot do it for folders, and say so.
  const bool failed = fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP;
  const int problem = errno;
  close(descriptor);
  if (failed) return write_failure(folder, problem);
  return {};
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path, std::uint64_t bytes) {
  int descriptor = -1;
  std::string partial;
  for (unsigned number = 0; descriptor < 0; ++number) {
    partial = path + ".partial-" + std::to_string(getpid()) + "-" + std::to_string(number);
    descriptor = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return write_failure(path, errno);
  }
  AtomicFile file(path, std::move(partial), descriptor);
  const bool no_room = bytes > 0 && fallocate(descriptor, 0, 0, static_cast<off_t>(bytes)) != 0 &&
                       (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
  if (no_room)
    return failure(AXLE_IO, "%s: cannot be written: there is no room for %llu bytes: %s",
                   path.c_str(), static_cast<unsigned long long>(bytes), std::strerror(errno));
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::exchange(other.partial_, std::string())),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

Result<void> AtomicFile::write(std::uint64_t at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return write_failure(path_, errno);
    at += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> AtomicFile::sync() {
  const bool synced = fsync(descriptor_) == 0;
  const int problem = errno;
  const bool closed = close(std::exchange(descriptor_, -1)) == 0;
  if (!synced) return write_failure(path_, problem);
  if (!closed) return write_failure(path_, errno);
  return {};
}

Result<void> AtomicFile::publish() {
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) return write_failure(path_, errno);
  partial_.clear();
  return sync_folder_of(path_);
}

}  // namespace axle::runtime

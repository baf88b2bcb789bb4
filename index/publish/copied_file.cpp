#include "index/publish/copied_file.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"

namespace axle::index {
namespace {

using system::Descriptor;

/// False: the file system does not support it, and nothing is left.
bool share_blocks(const std::string& file, const std::string& path) {
  const Descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (from.get() < 0 || ::fstat(from.get(), &status) != 0) return false;
  const Descriptor to(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & 0777));
  if (to.get() < 0) return false;
  if (::ioctl(to.get(), FICLONE, from.get()) == 0) return true;
  ::unlink(path.c_str());
  return false;
}

/// std::filesystem::copy_file makes EIO of a full disk. What could not share blocks may be left.
std::error_code copy_bytes(const std::string& file, const std::string& path) {
  const Descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (!from || ::fstat(from.get(), &status) != 0) return system::last_error();
  Descriptor to(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, status.st_mode & 0777));
  if (!to) return system::last_error();
  std::string part(1U << 20, '\0');
  for (;;) {
    const ssize_t count = ::read(from.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system::last_error();
    if (count == 0) return to.close();
    if (auto error = system::write_all(
            to.get(), std::string_view(part).substr(0, static_cast<std::size_t>(count))))
      return error;
  }
}

}  // namespace

std::unexpected<Error> system_failure(std::string_view what, const std::string& path, int number) {
  return fail(ErrorKind::io, fmt::format("cannot {} {}: {}", what, path, std::strerror(number)),
              number == ENOSPC ? "free disk space" : "check the path and its permissions");
}

Result<void> write_new_file(const std::string& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return system_failure("create", path, errno);
  std::error_code error = system::write_all(file.get(), content);
  if (!error) error = file.close();
  if (error) return system_failure("write", path, error.value());
  return {};
}

Result<void> copy_to_new_file(const std::string& file, const std::string& path) {
  if (share_blocks(file, path)) return {};
  if (const std::error_code error = copy_bytes(file, path))
    return system_failure("copy " + file + " to", path, error.value());
  return {};
}

}  // namespace axle::index

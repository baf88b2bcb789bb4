#include "installer/file_hash.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "wheel/hash/sha256.h"

namespace axle::installer {

Result<std::string> hash_file(int folder_fd, const std::string& path) {
  const Descriptor file(
      ::openat(folder_fd, path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file && (errno == ENOENT || errno == ENOTDIR))
    return fail(ErrorKind::not_found, fmt::format("{} does not exist", path));
  if (!file && errno == ELOOP)
    return fail(ErrorKind::malformed, fmt::format("{} is a symbolic link", path));
  if (!file) return std::unexpected(system_error("open", path, errno));
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return std::unexpected(system_error("read", path, errno));
  if (!S_ISREG(status.st_mode))
    return fail(ErrorKind::malformed, fmt::format("{} is not a regular file", path));
  wheel::Sha256 hash;
  std::array<std::byte, 1U << 17> buffer;
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(system_error("read", path, errno));
    if (got == 0) return wheel::render_base64(hash.finish());
    hash.update(std::span(buffer).first(static_cast<std::size_t>(got)));
  }
}

}  // namespace axle::installer

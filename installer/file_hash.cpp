#include "installer/file_hash.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "wheel/hash/sha256.h"
#include "wheel/hash/short_sha256.h"

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
  constexpr std::size_t long_part = std::size_t{1} << 17;
  constexpr std::size_t shortest_part = 4096;  // of a file that grows meanwhile
  const auto size = static_cast<std::size_t>(status.st_size);
  const bool at_once = wheel::take_as_short(size);
  std::string part;
  // What is read need not be zero before. All of a file leaves a byte, which shows its end.
  part.resize_and_overwrite(at_once ? std::max(size + 1, shortest_part) : long_part,
                            [](char*, std::size_t bytes) { return bytes; });
  std::size_t filled = 0;
  std::optional<wheel::Sha256> hash;
  while (true) {
    const ssize_t got = ::read(file.get(), part.data() + filled, part.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(system_error("read", path, errno));
    filled += static_cast<std::size_t>(got);
    const std::string_view bytes = std::string_view(part).substr(0, filled);
    if (got == 0 && !hash && at_once) return wheel::render_base64(wheel::short_sha256(bytes));
    if (got != 0 && filled < part.size()) continue;
    if (!hash) hash.emplace();
    hash->update(std::as_bytes(std::span(bytes)));
    if (got == 0) return wheel::render_base64(hash->finish());
    filled = 0;
  }
}

}  // namespace axle::installer

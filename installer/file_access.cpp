#include "installer/file_access.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace axle::installer {

Error system_error(std::string_view action, std::string_view path, int code) {
  std::string hint;
  switch (code) {
    case EACCES:
    case EPERM:
    case EROFS:
      hint = "run as the owner of that folder, or choose an environment of your own with --python";
      break;
    case ENOSPC:
    case EDQUOT:
      hint = "free some space there and run the same command again";
      break;
    default:
      break;
  }
  return {ErrorKind::io, fmt::format("cannot {} {}: {}", action, path, std::strerror(code)),
          std::move(hint)};
}

bool says_absent(int code) { return code == ENOENT || code == ENOTDIR; }

Result<std::optional<struct stat>> look_at(const std::string& path, Links links) {
  struct stat status = {};
  const int flags = links == Links::followed ? 0 : AT_SYMLINK_NOFOLLOW;
  if (::fstatat(AT_FDCWD, path.c_str(), &status, flags) == 0) return status;
  if (says_absent(errno)) return std::nullopt;
  return std::unexpected(system_error("look at", path, errno));
}

std::int64_t nanoseconds_of(const timespec& time) {
  constexpr std::int64_t second = 1'000'000'000;
  return (time.tv_sec * second) + time.tv_nsec;
}

Result<bool> exists(const std::string& path) {
  auto status = look_at(path);
  if (!status) return std::unexpected(status.error());
  return status->has_value();
}

Result<Descriptor> open_folder(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return std::unexpected(system_error("open", path, errno));
  return folder;
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) {
    if (says_absent(errno)) {
      return fail(ErrorKind::not_found, fmt::format("{} does not exist", path));
    }
    return std::unexpected(system_error("open", path, errno));
  }
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) {
    return std::unexpected(system_error("read", path, errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::malformed, fmt::format("{} is not a regular file", path));
  }
  if (static_cast<std::uint64_t>(status.st_size) > limit) {
    return fail(ErrorKind::malformed, fmt::format("{} is longer than {} bytes", path, limit));
  }
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(system_error("read", path, errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  content.resize(filled);
  return content;
}

Result<void> write_all(int fd, std::string_view bytes, std::string_view path) {
  const std::error_code error = system::write_all(fd, bytes);
  if (error) return std::unexpected(system_error("write", path, error.value()));
  return {};
}

unsigned process_umask() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

Result<void> create_file(int folder_fd, const std::string& name, std::string_view content,
                         bool executable) {
  const Descriptor file(::openat(folder_fd, name.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                 executable ? 0777 : 0666));
  if (!file) return std::unexpected(system_error("create", name, errno));
  return write_all(file.get(), content, name);
}

}  // namespace axle::installer

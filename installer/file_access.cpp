#include "installer/file_access.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "foundation/system/newer_calls.h"

namespace axle::installer {

Error system_error(std::string_view action, std::string_view path, int code) {
  std::string hint;
  switch (code) {
    case EACCES:
    case EPERM:
    case EROFS:
      hint =
          "run as the owner of that folder, or choose others: an environment of your own with "
          "--python, a cache with --cache-dir (or none with --no-cache)";
      break;
    case ENOSPC:
    case EDQUOT:
      hint = "free some space there and run the same command again";
      break;
    case ENOENT:
    case ESTALE:
      hint = "if something removed it while this command ran, run the same command again";
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

namespace {

struct OpenFile {
  Descriptor descriptor;
  std::size_t size = 0;
};

/// A regular file of at most `limit` bytes; nullopt: nothing is there. Errors as of
/// `read_if_there`.
Result<std::optional<OpenFile>> open_file(const std::string& path, std::uint64_t limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) {
    if (says_absent(errno)) return std::nullopt;
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
  return OpenFile{std::move(file), static_cast<std::size_t>(status.st_size)};
}

std::unexpected<Error> says_missing(const std::string& path) {
  return fail(ErrorKind::not_found, fmt::format("{} does not exist", path));
}

/// Appends `bytes` more of `file` to `content`; fewer where it ends. Error: io.
Result<void> append_from(const Descriptor& file, std::size_t bytes, std::string& content,
                         const std::string& path) {
  int code = 0;
  const std::size_t before = content.size();
  // What is read need not be zero before.
  content.resize_and_overwrite(before + bytes, [&](char* text, std::size_t size) {
    std::size_t filled = before;
    while (filled < size && code == 0) {
      const ssize_t got = ::read(file.get(), text + filled, size - filled);
      if (got == 0) break;
      if (got > 0) filled += static_cast<std::size_t>(got);
      if (got < 0 && errno != EINTR) code = errno;
    }
    return filled;
  });
  if (code != 0) return std::unexpected(system_error("read", path, code));
  return {};
}

}  // namespace

Result<std::optional<std::string>> read_if_there(const std::string& path, std::uint64_t limit) {
  auto file = open_file(path, limit);
  if (!file) return std::unexpected(std::move(file.error()));
  if (!*file) return std::nullopt;
  std::string content;
  if (auto read = append_from((*file)->descriptor, (*file)->size, content, path); !read)
    return std::unexpected(std::move(read.error()));
  return content;
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  auto content = read_if_there(path, limit);
  if (!content) return std::unexpected(std::move(content.error()));
  if (!*content) return says_missing(path);
  return std::move(**content);
}

Result<std::string> read_headers(const std::string& path, std::uint64_t limit) {
  constexpr std::size_t part = 8192;
  auto opened = open_file(path, limit);
  if (!opened) return std::unexpected(std::move(opened.error()));
  if (!*opened) return says_missing(path);
  const OpenFile& file = **opened;
  std::string content;
  std::size_t searched = 0;
  while (content.size() < file.size) {
    const std::size_t before = content.size();
    const std::size_t wanted = std::min(part, file.size - before);
    if (auto read = append_from(file.descriptor, wanted, content, path); !read)
      return std::unexpected(std::move(read.error()));
    const std::size_t end =
        std::min(content.find("\n\n", searched), content.find("\n\r\n", searched));
    if (end != std::string::npos) {
      content.resize(end + 1);
      return content;
    }
    if (content.size() < before + wanted) break;
    searched = content.size() - 2;  // where an end may have begun
  }
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

Result<void> copy_file(int tree_fd, const std::string& from, int folder_fd, const std::string& to,
                       bool executable) {
  const Descriptor source(::openat(tree_fd, from.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!source) return std::unexpected(system_error("open", from, errno));
  const Descriptor target(::openat(folder_fd, to.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                   executable ? 0777 : 0666));
  if (!target) return std::unexpected(system_error("create", to, errno));
  constexpr std::size_t chunk = 1U << 30;
  ssize_t copied = 0;
  while ((copied = ::copy_file_range(source.get(), nullptr, target.get(), nullptr, chunk, 0)) > 0) {
  }
  if (copied == 0) return {};
  if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP &&
      errno != EINTR) {
    return std::unexpected(system_error("write", to, errno));
  }
  std::array<char, 1U << 16> buffer;
  while (true) {
    const ssize_t got = ::read(source.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(system_error("read", from, errno));
    if (got == 0) return {};
    const std::string_view part(buffer.data(), static_cast<std::size_t>(got));
    if (auto written = write_all(target.get(), part, to); !written) return written;
  }
}

}  // namespace axle::installer

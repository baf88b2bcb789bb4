#include "session/input_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "foundation/text/byte_size.h"

namespace axle::session {

namespace {

constexpr std::size_t most_bytes = 64U << 20;
/// How long to wait for the first byte of a named pipe, until its other end is opened.
constexpr std::chrono::milliseconds patience{10'000};
/// Linux, include/uapi/linux/magic.h: an anonymous pipe of the shell, whose other end is open.
constexpr decltype(std::declval<struct statfs>().f_type) pipe_file_system = PIPEFS_MAGIC;

std::mutex& looked_at_mutex() {
  static std::mutex one;
  return one;
}

std::set<std::string>& looked_at_paths() {
  static std::set<std::string> all;
  return all;
}

class InputFile {
 public:
  explicit InputFile(const std::string& path)
      : own_(path != "-"),
        fd_(own_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                 : STDIN_FILENO) {}
  ~InputFile() {
    if (own_ && fd_ >= 0) ::close(fd_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  bool own_;
  int fd_;
};

std::unexpected<Error> unreadable(const std::string& path, int number) {
  return fail(number == ENOENT || number == ENOTDIR ? ErrorKind::not_found : ErrorKind::io,
              number == ENOENT
                  ? fmt::format("{}: no such file", path)
                  : fmt::format("{}: cannot be read: {}", path, std::strerror(number)));
}

std::unexpected<Error> too_large(const std::string& path) {
  return fail(ErrorKind::malformed,
              fmt::format("{}: too large, the limit is {}", path, text::render_memory(most_bytes)));
}

/// An input that has an end; for a file also its size.
Result<void> check_kind(const InputFile& file, const std::string& path) {
  struct stat status{};
  if (::fstat(file.fd(), &status) != 0) return unreadable(path, errno);
  if (S_ISDIR(status.st_mode)) return fail(ErrorKind::io, fmt::format("{}: is a folder", path));
  if (S_ISBLK(status.st_mode))
    return fail(ErrorKind::io, fmt::format("{}: a device, not a file", path));
  if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > most_bytes)
    return too_large(path);
  return {};
}

/// 0: no limit.
std::chrono::milliseconds patience_with(const InputFile& file) {
  struct stat status{};
  struct statfs system{};
  const bool named = ::fstat(file.fd(), &status) == 0 && S_ISFIFO(status.st_mode) &&
                     ::fstatfs(file.fd(), &system) == 0 && system.f_type != pipe_file_system;
  return named ? patience : std::chrono::milliseconds(0);
}

/// Waits until there is something to read; false: nobody writes.
bool wait_for_data(const InputFile& file, std::chrono::milliseconds most) {
  pollfd ready{file.fd(), POLLIN, 0};
  int got = 0;
  do {
    got = ::poll(&ready, 1, most.count() == 0 ? -1 : static_cast<int>(most.count()));
  } while (got < 0 && errno == EINTR);
  return got != 0;
}

}  // namespace

Result<std::string> read_input(const std::string& path) {
  if (path != "-") note_looked_at(path);
  const InputFile file(path);
  if (file.fd() < 0) return unreadable(path, errno);
  if (auto sound = check_kind(file, path); !sound) return std::unexpected(sound.error());
  std::chrono::milliseconds most = patience_with(file);
  std::string text;
  std::array<char, 1U << 14> block;
  while (true) {
    if (!wait_for_data(file, most)) {
      return fail(ErrorKind::io,
                  fmt::format("{}: nothing was written to this pipe within {} s", path,
                              patience.count() / 1000),
                  "start the program that writes to it, or specify a file");
    }
    const ssize_t got = ::read(file.fd(), block.data(), block.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return unreadable(path, errno);
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > most_bytes) return too_large(path);
    most = std::chrono::milliseconds(0);
  }
}

void note_looked_at(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::lock_guard lock(looked_at_mutex());
  looked_at_paths().insert(error ? path : absolute.string());
}

std::set<std::string> looked_at() {
  const std::lock_guard lock(looked_at_mutex());
  return looked_at_paths();
}

}  // namespace axle::session

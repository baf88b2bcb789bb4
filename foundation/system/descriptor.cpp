#include "foundation/system/descriptor.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace axle::system {
namespace {

Descriptor above_streams(Descriptor descriptor) {
  if (descriptor.get() > STDERR_FILENO) return descriptor;
  return Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace

std::error_code last_error() { return {errno, std::generic_category()}; }

std::error_code Descriptor::close() {
  const int fd = std::exchange(fd_, -1);
  return fd < 0 || ::close(fd) == 0 ? std::error_code() : last_error();
}

std::expected<Pipe, std::error_code> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(last_error());
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  pipe.read = above_streams(std::move(pipe.read));
  pipe.write = above_streams(std::move(pipe.write));
  if (!pipe.read || !pipe.write) return std::unexpected(last_error());
  return pipe;
}

std::error_code write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace axle::system

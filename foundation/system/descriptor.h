#pragma once
// File descriptors that are closed automatically.

#include <expected>
#include <string_view>
#include <system_error>
#include <utility>

namespace axle::system {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  /// Closes it. After writing: the system may report an error only now.
  [[nodiscard]] std::error_code close();
  /// Gives it away: whoever takes it closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  /// Closes it; errors are ignored.
  void reset() { static_cast<void>(close()); }

 private:
  int fd_ = -1;
};

/// errno as an error_code, right after a failed call.
[[nodiscard]] std::error_code last_error();

/// Both ends are closed on exec, and neither is 0, 1 or 2, even if those are closed.
struct Pipe {
  Descriptor read;
  Descriptor write;
};
[[nodiscard]] std::expected<Pipe, std::error_code> make_pipe();

/// Writes all bytes, resuming after signals and short writes.
[[nodiscard]] std::error_code write_all(int fd, std::string_view bytes);

}  // namespace axle::system

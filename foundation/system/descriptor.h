#pragma once
// File descriptors that close themselves.

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
  /// Closes it. For those who have written to it: the system may say only now what went wrong.
  [[nodiscard]] std::error_code close();
  /// Closes it; the answer of the system does not matter.
  void reset() { static_cast<void>(close()); }

 private:
  int fd_ = -1;
};

/// What a call that failed has just left in errno.
[[nodiscard]] std::error_code last_error();

/// Both ends are closed on exec, and neither is 0, 1 or 2, even where those are closed.
struct Pipe {
  Descriptor read;
  Descriptor write;
};
[[nodiscard]] std::expected<Pipe, std::error_code> make_pipe();

/// Writes all bytes, resuming after signals and short writes.
[[nodiscard]] std::error_code write_all(int fd, std::string_view bytes);

}  // namespace axle::system

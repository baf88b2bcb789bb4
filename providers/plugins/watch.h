#pragma once
// Records what a confined process is denied: the filter asks us (seccomp user notification, since
// Linux 5.6) where it would otherwise deny. The answer is the same denial.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <sys/types.h>

namespace axle::plugins {

/// Where the stopped child leaves the listener for us.
inline constexpr int listener_place = 6;

class Watch {
 public:
  Watch() = default;
  /// Takes the listener of the child that has stopped itself, and resumes it. If that fails the
  /// child is resumed as well: denied calls then fail with ENOSYS.
  Watch(pid_t child, int pidfd);
  Watch(Watch&& other) noexcept;
  Watch& operator=(Watch&& other) noexcept;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// Readable when a call waits for an answer; -1: nothing is watched.
  [[nodiscard]] int descriptor() const { return listener_; }
  /// Answers waiting calls, a limited number at once.
  void attend();
  /// "socket", "openat /tmp/log (3 times)": what was attempted, in order of the first attempt.
  [[nodiscard]] std::vector<std::string> attempts() const;

 private:
  bool answer_one();
  void note(std::string attempt);

  int listener_ = -1;
  std::vector<std::string> order_;
  std::map<std::string, std::size_t> counts_;
};

// In the child, where only system calls are allowed.

/// Enforces `filter` and stops until the listener was taken. False if the kernel rejects it.
[[nodiscard]] bool enforce_watched(std::vector<sock_filter>& filter, pid_t self);

}  // namespace axle::plugins

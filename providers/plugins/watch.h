#pragma once
// Sees what a confined process is denied: the filter asks us (seccomp user notification, Linux 5.6
// on) where it would have refused by itself. The answer is the same refusal.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <sys/types.h>

namespace axle::plugins {

/// Where the child leaves the listener for us while it stands still.
inline constexpr int listener_place = 6;

class Watch {
 public:
  Watch() = default;
  /// Takes the listener of the child that has stopped itself, and lets it go on. Where that fails
  /// the child goes on all the same: what is denied then fails with ENOSYS.
  Watch(pid_t child, int pidfd);
  Watch(Watch&& other) noexcept;
  Watch& operator=(Watch&& other) noexcept;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// Readable when something waits for an answer; -1: nothing is watched.
  [[nodiscard]] int descriptor() const { return listener_; }
  /// Answers what waits, a bounded number at once.
  void attend();
  /// "socket", "openat /tmp/log (3 times)": what was tried, in order of the first time.
  [[nodiscard]] std::vector<std::string> attempts() const;

 private:
  bool answer_one();
  void note(std::string attempt);

  int listener_ = -1;
  std::vector<std::string> order_;
  std::map<std::string, std::size_t> counts_;
};

// In the child, where only system calls are allowed.

/// Puts `filter` in force and stands still until the listener was taken. False where the kernel
/// refuses.
[[nodiscard]] bool enforce_watched(std::vector<sock_filter>& filter, pid_t self);

}  // namespace axle::plugins

#pragma once
// Starts processes: the only fork of this program. program_run.h runs a program and reads its
// output.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace axle::system {

enum class Group : std::uint8_t {
  own,      ///< it leads a process group: one signal ends its children too
  session,  ///< the same, and it has no terminal
  shared,   ///< the parent's, and the signals that the parent ignores: a terminal's reach it
};

/// A descriptor of the child that is /dev/null.
inline constexpr int nowhere = -1;

/// The setup of a child before its work begins. Always: no signal is blocked, and those that the
/// parent handles have their default action.
struct ChildSettings {
  Group group = Group::own;
  /// Killed when the thread that started it ends, for any reason.
  bool dies_with_parent = true;
  /// `places[n]` becomes descriptor n, inherited by the program it executes; at most 16. `nowhere`,
  /// and unlisted streams: /dev/null below 3, closed above.
  std::vector<int> places = {};
  /// Other descriptors are closed unless they are inherited: those of this program are closed on
  /// exec, those of its own caller (a make's job server) are not.
  bool inherits_descriptors = false;
  bool dumps_core = true;
  std::optional<std::chrono::seconds> cpu_time = {};  ///< then SIGXCPU; unset: no limit
};

/// How a child ended.
struct Ending {
  bool known = false;  ///< unset if the kernel has reaped it (SIGCHLD ignored) or it does not end
  int exit_code = -1;  ///< 128 + signal if one ended it; -1 unknown
  int signal = 0;
  std::size_t peak_memory = 0;  ///< maximum resident size in bytes; 0 unknown
};

/// A child that was started. Killed and reaped with the object.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;

  ChildProcess() = default;
  ChildProcess(pid_t id, Group group) : id_(id), group_(group) {}
  ChildProcess(ChildProcess&& other) noexcept
      : id_(std::exchange(other.id_, -1)), group_(other.group_) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(group_, other.group_);
    return *this;
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  /// -1: there is none, or no longer.
  [[nodiscard]] pid_t id() const { return id_; }
  [[nodiscard]] Group group() const { return group_; }
  /// Does not reap it: its number, and that of its group, remain its own.
  [[nodiscard]] bool has_ended();
  /// Whether it ended in time.
  [[nodiscard]] bool wait_until(Clock::time_point deadline);
  /// With its group, if it leads one, which may outlive it.
  void kill();
  /// Waits for its end, at most until `give_up` (a process inside a broken driver may not end at
  /// all, state D, and is left to init), and forgets it.
  Ending reap(Clock::time_point give_up = Clock::now() + patience);

  /// How long to wait for a process that was killed.
  static constexpr std::chrono::milliseconds patience{500};

 private:
  pid_t id_ = -1;
  Group group_ = Group::own;
};

/// Runs `work` in a child; if that returns, the child exits with 127. Other threads may have held
/// locks at the fork: work that does not execute a program may normally only make system calls.
[[nodiscard]] std::expected<ChildProcess, std::error_code> fork_child(
    const ChildSettings& settings, const std::function<void()>& work);

/// _exit without hooks: a child does not flush what the parent had buffered.
[[noreturn]] void leave(int code);

}  // namespace axle::system

#pragma once
// How a process is started: the only fork of this program. What runs a program and reads what it
// prints is program_run.h.

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
  own,      ///< it leads a process group: one signal ends what it starts too
  session,  ///< the same, and it has no terminal
  shared,   ///< the parent's, and the signals that the parent ignores: a terminal's reach it
};

/// A place of a child that leads nowhere.
inline constexpr int nowhere = -1;

/// What a child becomes before its work begins. Everywhere: no signal is blocked, and those that
/// the parent handles have their default action.
struct ChildSettings {
  Group group = Group::own;
  /// Killed when the thread that started it ends, however that ends.
  bool dies_with_parent = true;
  /// `places[n]` becomes descriptor n, inherited by what it executes; at most 16. `nowhere`, and a
  /// stream that is not named: /dev/null below 3, closed above.
  std::vector<int> places = {};
  /// Descriptors beyond the places are closed, unless they are inherited: those of this program are
  /// closed on exec, those of its own caller (a make's job server) are not.
  bool inherits_descriptors = false;
  bool dumps_core = true;
  std::optional<std::chrono::seconds> cpu_time = {};  ///< then SIGXCPU; unset: no limit
};

/// How a child ended.
struct Ending {
  bool known = false;  ///< not where the kernel has reaped it (SIGCHLD ignored) or it does not die
  int exit_code = -1;  ///< 128 + signal when one ended it; -1 unknown
  int signal = 0;
  std::size_t peak_memory = 0;  ///< bytes that were resident at most; 0 unknown
};

/// A child that was started. Killed and reaped when the object goes.
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

  /// -1: there is none, or none any more.
  [[nodiscard]] pid_t id() const { return id_; }
  [[nodiscard]] Group group() const { return group_; }
  /// It is not reaped by that: its number, and that of its group, stay its own.
  [[nodiscard]] bool has_ended();
  /// Whether it ended by then.
  [[nodiscard]] bool wait_until(Clock::time_point deadline);
  /// With its group, where it leads one, which may outlive it.
  void kill();
  /// Waits for its end, at most until `give_up` (a process inside a broken driver may not die at
  /// all, state D, and is left to init), and forgets it.
  Ending reap(Clock::time_point give_up = Clock::now() + patience);

  /// How long a process that was killed is waited for.
  static constexpr std::chrono::milliseconds patience{500};

 private:
  pid_t id_ = -1;
  Group group_ = Group::own;
};

/// Runs `work` in a child; where that returns, the child exits with 127. Other threads may have
/// held locks at the fork: work that does not execute a program makes system calls only, unless it
/// knows better.
[[nodiscard]] std::expected<ChildProcess, std::error_code> fork_child(
    const ChildSettings& settings, const std::function<void()>& work);

/// _exit without anyone's hooks: what the parent had buffered is not flushed by a child.
[[noreturn]] void leave(int code);

}  // namespace axle::system

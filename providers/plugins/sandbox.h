#pragma once
// The sandbox: a child process that can read the system and what it is granted, return its answer,
// and nothing else. No network, no writes, no new processes, no signals to others, bounded memory,
// time and output, no capabilities, no inherited descriptors, an environment of its own; it ends
// with its parent, and so do its children (orphan_guard.h). Landlock (from ABI 1) restricts files,
// seccomp system calls, rlimits resources.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "providers/plugins/plugin.h"

namespace axle::plugins {

/// What a task may do beyond reading the system. Missing paths are skipped.
struct Grants {
  std::vector<std::string> readable;  ///< files and folders with all below them
  std::vector<std::string> devices;   ///< nodes: read, write, ioctl
  std::vector<std::string> programs;  ///< may be started, which lets the task make processes
};

/// A task for a sandbox.
struct ConfinedTask {
  std::string program;                   ///< absolute
  std::vector<std::string> arguments;    ///< without the program's name
  bool answer_on_stdout = false;         ///< else on descriptor 3, and stdout is only kept
  std::vector<std::string> environment;  ///< "KEY=value", complete
  Grants grants;
  PluginLimits limits;
  /// A machine without devices: bare_machine.h. Not started if the kernel does not allow it.
  bool bare_machine = false;
  bool watched = false;  ///< `TaskResult::attempts` are wanted; costs a stop at the start
};

enum class TaskEnd : std::uint8_t { not_started, exited, crashed, timed_out, flooded, swarmed };

struct TaskResult {
  TaskEnd end = TaskEnd::not_started;
  int code = 0;         ///< exit code; of `crashed` the signal
  std::string answer;   ///< at most `limits.answer` bytes and one more
  std::string printed;  ///< as the task printed it, at most `limits.printed` bytes
  std::string why;      ///< of `not_started`
  std::chrono::milliseconds duration{0};
  std::size_t peak_memory = 0;  ///< bytes that were resident at most; 0 unknown
  /// For a watched task: what it attempted and the system call filter denied ("openat /tmp/log");
  /// nullopt if this kernel does not report it.
  std::optional<std::vector<std::string>> attempts = {};
};

/// What this kernel can enforce.
struct SandboxSupport {
  int landlock = 0;      ///< ABI; 0: none
  bool seccomp = false;  ///< filters
  /// What cannot be restricted because a feature is missing, one sentence each; empty: everything
  /// above holds.
  std::vector<std::string> lacks;
};
[[nodiscard]] SandboxSupport probe_sandbox();

/// Runs all tasks concurrently and waits for them; results in order. Uses everything that `support`
/// reports: a task whose confinement cannot be set up is not started.
[[nodiscard]] std::vector<TaskResult> run_confined(std::span<const ConfinedTask> tasks,
                                                   const SandboxSupport& support = probe_sandbox());

}  // namespace axle::plugins

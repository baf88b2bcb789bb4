#pragma once
// How much a confined process and all that it started take: the kernel limits memory a process, and
// the number of threads and processes only a user.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace axle::plugins {

struct SessionUse {
  std::size_t tasks = 0;     ///< threads of all processes
  std::size_t resident = 0;  ///< bytes
};

/// What one line of /proc/PID/stat says (proc(5)).
struct ProcessStat {
  char state = '?';  ///< 'Z': its first thread has ended, and perhaps others have not
  pid_t session = 0;
  SessionUse use = {};  ///< of this process alone
};
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// Of the session that `leader` leads; `alone`: it can have no other process. Nothing where `proc`,
/// as proc(5) describes it, is not there.
[[nodiscard]] SessionUse read_session_use(pid_t leader, bool alone,
                                          const std::string& proc = "/proc");

/// Until the next look, after one that took so long: where the system has many processes, the looks
/// would else take as much as the plugins.
[[nodiscard]] std::chrono::nanoseconds pause_after_look(std::chrono::nanoseconds took);

}  // namespace axle::plugins

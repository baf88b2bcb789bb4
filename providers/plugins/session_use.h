#pragma once
// How much a confined process and its children use: the kernel limits memory per process, and the
// number of threads and processes only per user.

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

/// One line of /proc/PID/stat (proc(5)).
struct ProcessStat {
  char state = '?';  ///< 'Z': its first thread has ended, and perhaps others have not
  pid_t session = 0;
  SessionUse use = {};  ///< of this process alone
};
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);

/// For the session of `leader`; `alone`: it cannot have other processes. nullopt if `proc` does not
/// contain what proc(5) describes.
[[nodiscard]] SessionUse read_session_use(pid_t leader, bool alone,
                                          const std::string& proc = "/proc");

/// The pause until the next check, after one that took this long: on systems with many processes
/// the checks would otherwise cost as much as the plugins.
[[nodiscard]] std::chrono::nanoseconds pause_after_look(std::chrono::nanoseconds took);

}  // namespace axle::plugins

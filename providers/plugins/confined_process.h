#pragma once
// One confined child: how it is started and what it becomes before foreign code runs in it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <sys/types.h>

#include "providers/plugins/landlock.h"
#include "providers/plugins/orphan_guard.h"
#include "providers/plugins/sandbox.h"

namespace axle::plugins {

/// A child that runs, with our ends of its pipes; -1 once closed.
struct ConfinedProcess {
  pid_t pid = -1;
  int ended = -1;   ///< pidfd, readable when it has ended; -1 before Linux 5.3
  int answer = -1;  ///< -1 from the start where the answer comes on stdout
  int stdout_ = -1;
  int stderr_ = -1;
  int trouble = -1;    ///< what kept it from starting: a `StartTrouble`
  bool alone = false;  ///< it can make no process
};

/// Which step failed in the child, and errno.
struct StartTrouble {
  std::int32_t step = 0;
  std::int32_t error = 0;
};
[[nodiscard]] std::string render_trouble(const StartTrouble& trouble);

/// Forks. The child's group dies with this process: `guard` sees to it. `why` says what is wrong
/// when nothing was started.
[[nodiscard]] std::optional<ConfinedProcess> start_confined(const ConfinedTask& task,
                                                            const SandboxSupport& support,
                                                            const OrphanGuard& guard,
                                                            std::string& why);

}  // namespace axle::plugins

#pragma once
// One confined child: how it is started, and its setup before foreign code runs in it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <linux/filter.h>

#include "foundation/system/child_process.h"
#include "foundation/system/descriptor.h"
#include "providers/plugins/landlock.h"
#include "providers/plugins/orphan_guard.h"
#include "providers/plugins/sandbox.h"

namespace axle::plugins {

/// A running child, with our ends of its pipes; unset once closed.
struct ConfinedProcess {
  system::ChildProcess child;
  system::Descriptor ended;   ///< pidfd, readable when it has ended; unset before Linux 5.3
  system::Descriptor answer;  ///< unset from the start where the answer comes on stdout
  system::Descriptor stdout_;
  system::Descriptor stderr_;
  system::Descriptor trouble;  ///< what kept it from starting: a `StartTrouble`
  bool alone = false;          ///< it can make no process
};

/// The step that failed in the child, and errno.
struct StartTrouble {
  std::int32_t step = 0;
  std::int32_t error = 0;
};
[[nodiscard]] std::string render_trouble(const StartTrouble& trouble);

/// Forks. `guard` ensures that the child's group ends with this process. `why` has the reason if
/// nothing was started.
[[nodiscard]] std::optional<ConfinedProcess> start_confined(const ConfinedTask& task,
                                                            const SandboxSupport& support,
                                                            const OrphanGuard& guard,
                                                            std::string& why);

}  // namespace axle::plugins

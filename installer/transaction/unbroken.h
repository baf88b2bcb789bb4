#pragma once
// Delays signals during the critical part of a transaction: from its commit point to its last
// rename the environment is neither the old nor the new one. Handlers of signals that end this
// process check here first. SIGKILL cannot be delayed: after it, recovery does the rest
// (recovery.h).

namespace axle::installer {

/// While one exists, signals are delayed; when the last one ends, the delayed signal is raised
/// again.
class Unbroken {
 public:
  Unbroken();
  ~Unbroken();
  Unbroken(const Unbroken&) = delete;
  Unbroken& operator=(const Unbroken&) = delete;
};

/// For a signal handler: true if `signal` has to wait.
[[nodiscard]] bool must_wait(int signal);

/// How many changes of environments this process has committed; also for signal handlers.
[[nodiscard]] unsigned changes_made();
void count_change();

}  // namespace axle::installer

#pragma once
// What a signal must not break in two: from a transaction's commit point to its last rename the
// environment is neither the old nor the new one. Whoever handles the signals that end this process
// asks here first. SIGKILL asks nobody: after it recovery has the same to do (recovery.h).

namespace axle::installer {

/// While one lives, signals wait; at the end of the last the one that came is raised again.
class Unbroken {
 public:
  Unbroken();
  ~Unbroken();
  Unbroken(const Unbroken&) = delete;
  Unbroken& operator=(const Unbroken&) = delete;
};

/// For a signal handler: true where `signal` has to wait.
[[nodiscard]] bool must_wait(int signal);

/// How many changes of environments this process has made for good; for a signal handler too.
[[nodiscard]] unsigned changes_made();
void count_change();

}  // namespace axle::installer

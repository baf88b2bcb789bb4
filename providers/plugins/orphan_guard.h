#pragma once
// A process beside this one that outlives it for a moment. A confined child dies with its parent,
// but what it has started does not (PR_SET_PDEATHSIG is for one process): where this process ends
// while children run, however it ends, the guard kills their groups. In the sandbox nobody leaves
// its group (syscall_filter.h).

#include <optional>

#include <sys/types.h>

namespace axle::plugins {

class OrphanGuard {
 public:
  /// nullopt, with errno, when no process can be made.
  [[nodiscard]] static std::optional<OrphanGuard> start();

  OrphanGuard(OrphanGuard&& other) noexcept;
  OrphanGuard& operator=(OrphanGuard&&) = delete;
  OrphanGuard(const OrphanGuard&) = delete;
  OrphanGuard& operator=(const OrphanGuard&) = delete;
  ~OrphanGuard();  ///< it goes, and kills nobody

  /// In a child that leads a group of its own, before it starts anything: system calls only. False:
  /// nobody would guard it.
  [[nodiscard]] bool guard_own_group() const;

 private:
  OrphanGuard(pid_t pid, int groups) : pid_(pid), groups_(groups) {}

  pid_t pid_;
  int groups_;  ///< where leaders write their numbers
};

}  // namespace axle::plugins

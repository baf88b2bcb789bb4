#pragma once
// A process beside this one that outlives it for a moment. A confined child dies with its parent,
// but what it has started does not (PR_SET_PDEATHSIG is for one process): where this process ends
// while children run, however it ends, the guard kills their groups. In the sandbox nobody leaves
// its group (syscall_filter.h).

#include <expected>
#include <system_error>
#include <utility>

#include "foundation/system/child_process.h"
#include "foundation/system/descriptor.h"

namespace axle::plugins {

/// It goes with the object, and kills nobody then.
class OrphanGuard {
 public:
  /// Error: no process can be made.
  [[nodiscard]] static std::expected<OrphanGuard, std::error_code> start();

  /// Where leaders of groups write their numbers: a child that is to be guarded inherits it.
  [[nodiscard]] int descriptor() const { return groups_.get(); }
  /// In a child that leads a group of its own, before it starts anything: system calls only. False:
  /// nobody would guard it.
  [[nodiscard]] static bool guard_own_group(int descriptor);

 private:
  OrphanGuard(system::ChildProcess guard, system::Descriptor groups)
      : groups_(std::move(groups)), guard_(std::move(guard)) {}

  system::Descriptor groups_;
  system::ChildProcess guard_;  ///< ends first: with the pipe closed it would take us for dead
};

}  // namespace axle::plugins

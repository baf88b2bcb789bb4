#pragma once
// A helper process that briefly outlives this one. A confined child ends with its parent, but its
// own children do not (PR_SET_PDEATHSIG is for one process): if this process ends while children
// run, for any reason, the guard kills their groups. In the sandbox no process can leave its group
// (syscall_filter.h).

#include <expected>
#include <system_error>
#include <utility>

#include "foundation/system/child_process.h"
#include "foundation/system/descriptor.h"

namespace axle::plugins {

/// Ends with the object, without killing anything.
class OrphanGuard {
 public:
  /// Error: no process can be created.
  [[nodiscard]] static std::expected<OrphanGuard, std::error_code> start();

  /// Where group leaders write their numbers: a guarded child inherits it.
  [[nodiscard]] int descriptor() const { return groups_.get(); }
  /// In a child that leads its own group, before it starts anything: system calls only. False: it
  /// would not be guarded.
  [[nodiscard]] static bool guard_own_group(int descriptor);

 private:
  OrphanGuard(system::ChildProcess guard, system::Descriptor groups)
      : groups_(std::move(groups)), guard_(std::move(guard)) {}

  system::Descriptor groups_;
  system::ChildProcess guard_;  ///< ends first: with the pipe closed it would take us for dead
};

}  // namespace axle::plugins

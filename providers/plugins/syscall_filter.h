#pragma once
// Which system calls a plugin may make: an allow list, made before the fork (libseccomp needs a
// heap) and put in force after it. What is not on the list does not exist (ENOSYS), so that C
// libraries fall back; what is known and denied says so (EPERM, EACCES).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <sys/types.h>

namespace axle::plugins {

/// Whether the kernel takes filters.
[[nodiscard]] bool has_syscall_filters();

struct FilterOptions {
  bool processes = false;  ///< fork and execve: Landlock says of what
  bool devices = false;    ///< files may be opened for writing: Landlock says which
  /// Where the name of the one program lies that may be started; 0: none may. Never a place that a
  /// program can map: `one_program_page`.
  std::uintptr_t program = 0;
  bool watched = false;  ///< what is denied is asked of a listener: watch.h
};

/// Empty when libseccomp refuses.
[[nodiscard]] std::vector<sock_filter> make_syscall_filter(const FilterOptions& options);

/// A page below everything that the kernel places by itself. The filter lets a process start the
/// program whose name lies there, and lets nobody map memory there: after the start the page is
/// gone, so it happens once. 0 when it cannot be told.
[[nodiscard]] std::uintptr_t one_program_page();

// In the child, where only system calls are allowed.

/// Puts the number of the process where the filter compares with it.
void fill_in_own_number(std::vector<sock_filter>& filter, pid_t self);
/// Puts `filter` in force for this thread and all that comes of it; it may signal only itself.
/// Needs PR_SET_NO_NEW_PRIVS.
[[nodiscard]] bool enforce(std::vector<sock_filter>& filter, pid_t self);

}  // namespace axle::plugins

#pragma once
// The system calls that a plugin may make: an allow list, created before the fork (libseccomp needs
// a heap) and enforced after it. Calls that are not on the list do not exist (ENOSYS), so that C
// libraries fall back; known denied calls fail with EPERM or EACCES.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <linux/filter.h>
#include <sys/types.h>

namespace axle::plugins {

/// Whether the kernel supports filters.
[[nodiscard]] bool has_syscall_filters();

struct FilterOptions {
  bool processes = false;  ///< fork and execve: Landlock says of what
  bool devices = false;    ///< files may be opened for writing: Landlock says which
  /// The address of the name of the one program that may be started; 0: none may. Never an address
  /// that a program can map: `one_program_page`.
  std::uintptr_t program = 0;
  bool watched = false;  ///< what is denied is asked of a listener: watch.h
};

/// Empty if libseccomp fails.
[[nodiscard]] std::vector<sock_filter> make_syscall_filter(const FilterOptions& options);

/// A page below everything that the kernel maps on its own. The filter allows a process to start
/// the program whose name is there, and no process to map memory there: after the start the page is
/// gone, so it works only once. 0 if it cannot be determined.
[[nodiscard]] std::uintptr_t one_program_page();

// In the child, where only system calls are allowed.

/// Stores the number of the process where the filter compares with it.
void fill_in_own_number(std::vector<sock_filter>& filter, pid_t self);
/// Enforces `filter` for this thread and all its children; it may only signal itself. Needs
/// PR_SET_NO_NEW_PRIVS.
[[nodiscard]] bool enforce(std::vector<sock_filter>& filter, pid_t self);

}  // namespace axle::plugins

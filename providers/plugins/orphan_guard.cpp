#include "providers/plugins/orphan_guard.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace axle::plugins {
namespace {

constexpr std::size_t most_groups = 1024;

/// Readable when this process has ended; unset before Linux 5.3.
system::Descriptor descriptor_of_this_process() {
#ifdef SYS_pidfd_open
  return system::Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U)));
#else
  return {};
#endif
}

// From here to `watch_over`: in the guard, system calls only.

constexpr int groups_place = 3;
constexpr int parent_place = 4;

struct Groups {
  std::array<pid_t, most_groups> leaders;
  std::size_t count = 0;

  /// False: all writers are gone.
  bool take_from(int descriptor) {
    pid_t leader = 0;
    while (true) {
      const ssize_t got = ::read(descriptor, &leader, sizeof(leader));
      if (got < 0 && errno == EINTR) continue;
      if (got != static_cast<ssize_t>(sizeof(leader))) return got != 0;
      if (count < most_groups) leaders[count++] = leader;
    }
  }
};

[[noreturn]] void watch_over(bool sees_parent) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  Groups groups;
  bool writable = true;
  bool alive = true;
  while (writable && alive) {
    pollfd ready[2] = {{groups_place, POLLIN, 0}, {sees_parent ? parent_place : -1, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0) continue;
    alive = (ready[1].revents & POLLIN) == 0;
    writable = groups.take_from(groups_place);
  }
  for (std::size_t i = 0; i < groups.count; ++i) ::kill(-groups.leaders[i], SIGKILL);
  system::leave(0);
}

}  // namespace

std::expected<OrphanGuard, std::error_code> OrphanGuard::start() {
  auto pipe = system::make_pipe();
  if (!pipe) return std::unexpected(pipe.error());
  ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  const system::Descriptor self = descriptor_of_this_process();
  // It must not keep this process's pipes or terminal open, and it outlives the process.
  system::ChildSettings settings;
  settings.group = system::Group::session;
  settings.dies_with_parent = false;
  settings.places = {system::nowhere, system::nowhere, system::nowhere, pipe->read.get(),
                     self.get()};
  const bool sees_parent = static_cast<bool>(self);
  auto guard = system::fork_child(settings, [&] { watch_over(sees_parent); });
  if (!guard) return std::unexpected(guard.error());
  return OrphanGuard(std::move(*guard), std::move(pipe->write));
}

bool OrphanGuard::guard_own_group(int descriptor) {
  const pid_t self = ::getpid();
  ssize_t written = 0;
  do {
    written = ::write(descriptor, &self, sizeof(self));
  } while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(sizeof(self));
}

}  // namespace axle::plugins

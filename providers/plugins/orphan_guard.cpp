#include "providers/plugins/orphan_guard.h"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace axle::plugins {
namespace {

constexpr std::size_t most_groups = 1024;

/// readable when this process has ended; -1 before Linux 5.3.
int descriptor_of_this_process() {
#ifdef SYS_pidfd_open
  const int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0U));
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
#else
  return -1;
#endif
}

// From here to `watch_over`: in the guard, system calls only.

/// The guard must keep no pipe of this process open, nor its terminal.
void close_all_but(int first, int second) {
  const int low = first < second ? first : second;
  const int high = first < second ? second : first;
#ifdef SYS_close_range
  const auto close_range = [](unsigned from, unsigned to) {
    return from > to || ::syscall(SYS_close_range, from, to, 0U) == 0;
  };
  const auto behind = [](int descriptor) { return static_cast<unsigned>(descriptor + 1); };
  if ((low == 0 || close_range(0, static_cast<unsigned>(low) - 1U)) &&
      close_range(behind(low), static_cast<unsigned>(high) - 1U) && close_range(behind(high), ~0U))
    return;
#endif
  const auto last = static_cast<int>(::sysconf(_SC_OPEN_MAX));
  for (int number = 0; number < last && number < (1 << 20); ++number) {
    if (number != first && number != second) ::close(number);
  }
}

struct Groups {
  std::array<pid_t, most_groups> leaders;
  std::size_t count = 0;

  /// False: nobody can write any more.
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

[[noreturn]] void watch_over(int groups_end, int parent) {
  ::setsid();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  close_all_but(groups_end, parent < 0 ? groups_end : parent);
  Groups groups;
  bool writable = true;
  bool alive = true;
  while (writable && alive) {
    pollfd ready[2] = {{groups_end, POLLIN, 0}, {parent, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0) continue;
    alive = (ready[1].revents & POLLIN) == 0;
    writable = groups.take_from(groups_end);
  }
  for (std::size_t i = 0; i < groups.count; ++i) ::kill(-groups.leaders[i], SIGKILL);
  ::_exit(0);
}

}  // namespace

std::optional<OrphanGuard> OrphanGuard::start() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const int self = descriptor_of_this_process();
  const pid_t pid = ::fork();
  if (pid == 0) watch_over(ends[0], self);
  const int number = errno;
  ::close(ends[0]);
  if (self >= 0) ::close(self);
  if (pid < 0) {
    ::close(ends[1]);
    errno = number;
    return std::nullopt;
  }
  return OrphanGuard(pid, ends[1]);
}

OrphanGuard::OrphanGuard(OrphanGuard&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), groups_(std::exchange(other.groups_, -1)) {}

OrphanGuard::~OrphanGuard() {
  if (pid_ < 0) return;
  // First: with the pipe closed it would take this process for dead.
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::close(groups_);
}

bool OrphanGuard::guard_own_group() const {
  const pid_t self = ::getpid();
  ssize_t written = 0;
  do {
    written = ::write(groups_, &self, sizeof(self));
  } while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(sizeof(self));
}

}  // namespace axle::plugins

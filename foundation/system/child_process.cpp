#include "foundation/system/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"

namespace axle::system {
namespace {

constexpr std::size_t most_places = 16;
constexpr int streams = 3;

// From here to `become`: in the child, system calls only.

void settle_signals(Group group) {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction former{};
    const bool ignored = ::sigaction(number, nullptr, &former) == 0 && former.sa_handler == SIG_IGN;
    if (group != Group::shared || !ignored) ::signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void set_limits(const ChildSettings& settings) {
  if (!settings.dumps_core) {
    // A limit of zero does not prevent kernels from piping core dumps into a program, one byte does
    // (Linux, fs/coredump.c), and no dump to a file is that small.
    const rlimit no_core{1, 1};
    // A hard limit of zero cannot be raised, not even to one byte.
    if (::setrlimit(RLIMIT_CORE, &no_core) != 0) ::prctl(PR_SET_DUMPABLE, 0);
  }
  if (settings.cpu_time) {
    const auto seconds = static_cast<rlim_t>(settings.cpu_time->count());
    const rlimit cpu_time{seconds, seconds};
    ::setrlimit(RLIMIT_CPU, &cpu_time);
  }
}

/// Without /dev/null, a folder: nothing can be read from it or written to it.
int open_nowhere() {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  struct stat status{};
  if (null >= 0 && ::fstat(null, &status) == 0 && S_ISCHR(status.st_mode)) return null;
  return ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void close_from(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
#endif
  // Before Linux 5.9, and if a container's filter does not know the call: one by one.
  constexpr rlim_t most = 65536;
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  const auto end = static_cast<int>(limited ? std::min(limit.rlim_cur, most) : most);
  for (int number = first; number < end; ++number) ::close(number);
}

void settle_descriptors(const ChildSettings& settings) {
  const int count = std::max(static_cast<int>(settings.places.size()), streams);
  // First moved above the target numbers, so that none is overwritten before it is moved.
  std::array<int, most_places> moved{};
  const int silence = open_nowhere();
  for (int place = 0; place < count; ++place) {
    const auto n = static_cast<std::size_t>(place);
    int from = n < settings.places.size() ? settings.places[n] : nowhere;
    if (from < 0 && place < streams) from = silence;
    moved[n] = from < 0 ? nowhere : ::fcntl(from, F_DUPFD_CLOEXEC, count);
    if (from >= 0 && moved[n] < 0) leave(127);
  }
  if (silence >= count) ::close(silence);
  for (int place = 0; place < count; ++place) {
    const int from = moved[static_cast<std::size_t>(place)];
    if (from < 0) {
      ::close(place);
      continue;
    }
    if (::dup2(from, place) < 0) leave(127);
    ::close(from);
  }
  if (!settings.inherits_descriptors) close_from(count);
}

[[noreturn]] void become(const ChildSettings& settings, const std::function<void()>& work,
                         pid_t parent) {
  if (settings.group == Group::session) ::setsid();
  if (settings.group == Group::own) ::setpgid(0, 0);
  if (settings.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) leave(127);
  }
  settle_signals(settings.group);
  set_limits(settings);
  settle_descriptors(settings);
  work();
  leave(127);
}

}  // namespace

void leave(int code) {
  while (true) ::syscall(SYS_exit_group, code);
}

std::expected<ChildProcess, std::error_code> fork_child(const ChildSettings& settings,
                                                        const std::function<void()>& work) {
  if (settings.places.size() > most_places)
    return std::unexpected(std::make_error_code(std::errc::invalid_argument));
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id == 0) become(settings, work, parent);
  if (id < 0) return std::unexpected(last_error());
  if (settings.group == Group::own) ::setpgid(id, id);  // whichever process is first
  return ChildProcess(id, settings.group);
}

ChildProcess::~ChildProcess() {
  if (id_ < 0) return;
  kill();
  reap();
}

bool ChildProcess::has_ended() {
  if (id_ < 0) return true;
  siginfo_t info{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
  // ECHILD: the program ignores SIGCHLD, the kernel has reaped it, and its number may be another's.
  if (asked != 0 && errno == ECHILD) id_ = -1;
  return id_ < 0 || (asked == 0 && info.si_pid == id_);
}

bool ChildProcess::wait_until(Clock::time_point deadline) {
  constexpr long longest_pause = 10'000'000;
  timespec pause{0, 200'000};
  while (!has_ended()) {
    if (Clock::now() >= deadline) return false;
    ::nanosleep(&pause, nullptr);
    pause.tv_nsec = std::min(pause.tv_nsec * 2, longest_pause);
  }
  return true;
}

void ChildProcess::kill() {
  // First checks whether the number is still its own.
  static_cast<void>(has_ended());
  if (id_ < 0) return;
  if (group_ != Group::shared) ::kill(-id_, SIGKILL);
  ::kill(id_, SIGKILL);
}

Ending ChildProcess::reap(Clock::time_point give_up) {
  Ending ending;
  static_cast<void>(wait_until(give_up));
  const pid_t id = std::exchange(id_, -1);
  if (id < 0) return ending;
  int status = 0;
  rusage used{};
  if (::wait4(id, &status, WNOHANG, &used) != id) return ending;
  ending.known = true;
  ending.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ending.exit_code = ending.signal != 0 ? 128 + ending.signal : WEXITSTATUS(status);
  ending.peak_memory = static_cast<std::size_t>(used.ru_maxrss) * 1024;
  return ending;
}

}  // namespace axle::system

#include "detect/drivers/children.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <functional>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace axle::detect {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 256 * 1024;
constexpr std::chrono::milliseconds patience_after_kill{500};
constexpr int look_after_children_ms = 50;
/// The child's last line: without it an exit is one that the library made.
constexpr std::string_view farewell = "done\n";

struct Child {
  pid_t pid = -1;
  int output = -1;  ///< our end of its pipe; -1 once closed
  bool overflowed = false;
  bool timed_out = false;
  bool gone = true;  ///< there is none, or none any more: its number may be someone else's
  int status = 0;
  bool reaped = false;  ///< and `status` is how it died
  std::string text;
  bool takes_leave = false;  ///< its last line is the farewell
};

/// _exit without anyone's hooks: what the parent had buffered must not be flushed into our pipe.
[[noreturn]] void leave(int code) {
  while (true) ::syscall(SYS_exit_group, code);
}

void set_default_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void close_from_to(unsigned first, unsigned last) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, last, 0U) == 0) return;
#endif
  // Before Linux 5.9, and where a container's filter does not know the call: one by one.
  constexpr unsigned most = 65536;
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < most;
  const unsigned end = limited ? static_cast<unsigned>(limit.rlim_cur) : most;
  for (unsigned each = first; each <= last && each < end; ++each) ::close(static_cast<int>(each));
}

void close_all_but(int kept) {
  const auto number = static_cast<unsigned>(kept);
  if (number > 3) close_from_to(3, number - 1);
  close_from_to(number + 1, ~0U);
}

/// Where there is no /dev/null, a folder: nothing can be read from it or written to it.
void silence_streams() {
  int nowhere = ::open("/dev/null", O_RDWR);
  struct stat status{};
  if (nowhere < 0 || ::fstat(nowhere, &status) != 0 || !S_ISCHR(status.st_mode)) {
    nowhere = ::open("/", O_RDONLY | O_DIRECTORY);
  }
  for (int stream = 0; stream <= 2; ++stream) {
    if (::dup2(nowhere, stream) < 0) leave(1);
  }
}

/// Makes the child a stranger to its parent: own session, no streams, no core, no descriptors
/// but `output`, dies with the parent. Only async-signal-safe calls: other threads may have held
/// locks.
void settle_in(int output, pid_t parent, std::chrono::milliseconds time_limit) {
  // A session of its own: no terminal to write to, and a group that one signal ends.
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) leave(1);
  set_default_signals();
  // Zero does not hold for kernels that pipe core dumps into a program, one byte does (Linux,
  // fs/coredump.c), and no dump to a file is that small.
  const rlimit no_core{1, 1};
  // A hard limit of zero cannot be raised, not even to that.
  if (::setrlimit(RLIMIT_CORE, &no_core) != 0) ::prctl(PR_SET_DUMPABLE, 0);
  // Counts on while the parent is stopped and cannot kill it. Drivers may use several CPUs at once.
  const auto seconds = static_cast<rlim_t>(time_limit.count() / 1000 + 1) * 16;
  const rlimit cpu_time{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &cpu_time);
  silence_streams();
  close_all_but(output);
}

/// Forks; `work` runs in the child with its end of the pipe and must not return.
Child start_child(const std::function<void(int)>& work, std::chrono::milliseconds time_limit) {
  Child child;
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return child;
  // Streams that are closed in the parent must not become the pipe: the child replaces 0 to 2.
  if (pipe_ends[1] <= 2) {
    const int higher = ::fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, 3);
    ::close(pipe_ends[1]);
    pipe_ends[1] = higher;
  }
  const pid_t parent = ::getpid();
  child.pid = ::fork();
  if (child.pid == 0) {
    settle_in(pipe_ends[1], parent, time_limit);
    work(pipe_ends[1]);
    leave(1);
  }
  ::close(pipe_ends[1]);
  if (child.pid < 0) {
    ::close(pipe_ends[0]);
    return child;
  }
  child.gone = false;
  ::fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
  child.output = pipe_ends[0];
  return child;
}

/// Whether it has died. It is not reaped here, so that its number stays its own.
bool has_died(Child& child) {
  if (child.gone) return true;
  siginfo_t info{};
  const int asked =
      ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT);
  // ECHILD: the program ignores SIGCHLD, and the kernel has reaped it.
  if (asked != 0 && errno == ECHILD) child.gone = true;
  return child.gone || (asked == 0 && info.si_pid == child.pid);
}

/// With everything in its process group: drivers start programs too.
void kill_child(Child& child) {
  has_died(child);
  if (child.gone) return;
  ::kill(-child.pid, SIGKILL);
  ::kill(child.pid, SIGKILL);
}

bool said_farewell(const Child& child) {
  std::string_view text = child.text;
  if (!child.takes_leave || !text.ends_with(farewell)) return false;
  text.remove_suffix(farewell.size());
  return text.empty() || text.ends_with('\n');
}

void close_output(Child& child) {
  ::close(child.output);
  child.output = -1;
}

/// Takes what the pipe holds, and closes it at its end, at the child's last word, or when the child
/// talks without end. False when it is closed or empty.
bool read_some(Child& child) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(child.output, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return true;
  if (got < 0 && errno == EAGAIN) return false;
  if (got > 0) {
    child.text.append(buffer.data(), static_cast<std::size_t>(got));
    child.overflowed = child.text.size() > most_output;
    if (!child.overflowed && !said_farewell(child)) return true;
  }
  if (child.overflowed) kill_child(child);
  close_output(child);
  return false;
}

/// Those that have died have said all that they had to say, though a process that they started may
/// hold their pipe open.
void close_pipes_of_dead(std::span<Child* const> children) {
  for (Child* const child : children) {
    if (!has_died(*child)) continue;
    while (read_some(*child)) continue;
    if (child->output >= 0) close_output(*child);
  }
}

int remaining_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

/// Reads until every pipe is closed or the deadline has passed.
void gather(std::span<Child> children, Clock::time_point deadline) {
  while (true) {
    std::vector<pollfd> waiting;
    std::vector<Child*> owners;
    for (Child& child : children) {
      if (child.output < 0) continue;
      waiting.push_back({child.output, POLLIN, 0});
      owners.push_back(&child);
    }
    if (waiting.empty()) return;
    const int pause = std::min(remaining_ms(deadline), look_after_children_ms);
    const int ready = ::poll(waiting.data(), waiting.size(), pause);
    if (ready < 0 && errno != EINTR) return;
    for (std::size_t i = 0; ready > 0 && i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) read_some(*owners[i]);
    }
    if (ready == 0) close_pipes_of_dead(owners);
    if (Clock::now() >= deadline) return;
  }
}

/// Calls `done` again and again until it says true, at most until `deadline`.
template <typename Done>
void wait_until(const Done& done, Clock::time_point deadline) {
  constexpr timespec pause{0, 200'000};
  while (!done() && Clock::now() < deadline) ::nanosleep(&pause, nullptr);
}

bool reap(Child& child) {
  if (child.gone) return true;
  const pid_t ended = ::waitpid(child.pid, &child.status, WNOHANG);
  child.reaped = ended == child.pid;
  child.gone = child.reaped || (ended < 0 && errno != EINTR);
  return child.gone;
}

/// A child whose pipe is closed is about to end, but for one that closed it and stays.
void await_end(Child& child, Clock::time_point deadline) {
  if (said_farewell(child) || child.overflowed || child.output >= 0) return;
  wait_until([&] { return has_died(child); },
             std::max(deadline, Clock::now() + patience_after_kill));
}

/// Kills what is left of every child, then reaps them. A process inside a broken driver may not die
/// at all (state D), and is left to init.
void finish(std::span<Child> children, Clock::time_point deadline) {
  for (Child& child : children) {
    await_end(child, deadline);
    // Whoever waits may have been stopped itself, and wake up to a pipe that holds the whole
    // answer.
    while (child.output >= 0 && read_some(child)) continue;
    child.timed_out = !child.overflowed && !said_farewell(child) && !has_died(child);
    kill_child(child);
    if (child.output >= 0) close_output(child);
  }
  const auto give_up = Clock::now() + patience_after_kill;
  for (Child& child : children) wait_until([&] { return reap(child); }, give_up);
}

DriverAnswer conclude(Child&& child) {
  DriverAnswer answer;
  if (child.pid < 0) return answer;
  const bool done = said_farewell(child);
  if (done) child.text.resize(child.text.size() - farewell.size());
  answer.lines = std::move(child.text);
  if (done) {
    answer.end = DriverAnswer::End::finished;
  } else if (child.timed_out) {
    answer.end = DriverAnswer::End::timed_out;
  } else {
    answer.end = DriverAnswer::End::crashed;
    const bool killed = child.reaped && WIFSIGNALED(child.status);
    answer.signal = killed ? WTERMSIG(child.status) : 0;
  }
  return answer;
}

[[noreturn]] void answer_in_child(GpuVendor vendor, AskVendor ask, int output) {
  try {
    LineSink sink(output);
    ask(vendor, sink);
    sink.say("done");
  } catch (...) {
    leave(1);
  }
  leave(0);
}

}  // namespace

std::vector<DriverAnswer> ask_in_children(std::span<const GpuVendor> vendors, AskVendor ask,
                                          std::chrono::milliseconds time_limit) {
  const auto deadline = Clock::now() + time_limit;
  std::vector<Child> children;
  children.reserve(vendors.size());
  for (const GpuVendor vendor : vendors) {
    children.push_back(
        start_child([&](int output) { answer_in_child(vendor, ask, output); }, time_limit));
    children.back().takes_leave = true;
  }
  gather(children, deadline);
  std::vector<DriverAnswer> answers;
  answers.reserve(children.size());
  finish(children, deadline);
  for (Child& child : children) answers.push_back(conclude(std::move(child)));
  return answers;
}

ProgramAnswer run_in_child(const std::string& command, std::chrono::milliseconds time_limit) {
  const auto deadline = Clock::now() + time_limit;
  // Taken apart before the fork: the child may not allocate.
  std::string words = command;
  std::vector<char*> arguments{words.data()};
  for (char& c : words) {
    if (c != ' ') continue;
    c = '\0';
    arguments.push_back(&c + 1);
  }
  arguments.push_back(nullptr);
  Child child = start_child(
      [&](int output) {
        ::dup2(output, STDOUT_FILENO);
        ::dup2(output, STDERR_FILENO);
        ::execv(arguments.front(), arguments.data());
      },
      time_limit);
  gather({&child, 1}, deadline);
  finish({&child, 1}, deadline);
  return {std::move(child.text), !child.timed_out};
}

}  // namespace axle::detect

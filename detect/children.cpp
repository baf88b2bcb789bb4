#include "detect/children.h"

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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace axle::detect {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 256 * 1024;
constexpr std::chrono::milliseconds patience_after_kill{500};
/// The child's last line: without it an exit is one that the library made.
constexpr std::string_view farewell = "done\n";

struct Child {
  pid_t pid = -1;
  int output = -1;  ///< our end of its pipe; -1 once closed
  bool overflowed = false;
  bool timed_out = false;
  int status = 0;
  bool reaped = false;
  std::string text;
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

void close_all_but(int kept) {
#ifdef SYS_close_range
  const auto from = static_cast<unsigned>(kept);
  if (from > 3) ::syscall(SYS_close_range, 3U, from - 1, 0U);
  ::syscall(SYS_close_range, from + 1, ~0U, 0U);
#else
  static_cast<void>(kept);
#endif
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
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // Counts on while the parent is stopped and cannot kill it. Drivers may use several CPUs at once.
  const auto seconds = static_cast<rlim_t>(time_limit.count() / 1000 + 1) * 16;
  const rlimit cpu_time{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &cpu_time);
  const int null = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream <= 2; ++stream) ::dup2(null, stream);
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
  child.output = pipe_ends[0];
  return child;
}

void kill_child(const Child& child) {
  ::kill(-child.pid, SIGKILL);
  ::kill(child.pid, SIGKILL);
}

void close_output(Child& child) {
  ::close(child.output);
  child.output = -1;
}

/// Takes what the pipe holds. At its end, or when the child talks without end, the pipe is closed.
void read_some(Child& child) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(child.output, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) return close_output(child);
  child.text.append(buffer.data(), static_cast<std::size_t>(got));
  if (child.text.size() <= most_output) return;
  child.overflowed = true;
  kill_child(child);
  close_output(child);
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
    const int ready = ::poll(waiting.data(), waiting.size(), remaining_ms(deadline));
    if (ready < 0 && errno != EINTR) return;
    if (ready == 0 && Clock::now() >= deadline) return;
    if (ready <= 0) continue;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) read_some(*owners[i]);
    }
  }
}

/// Waits until the child is gone, at most until `deadline`: a process inside a broken driver may
/// not die at all (state D), and is then left to init.
bool reap(Child& child, Clock::time_point deadline) {
  constexpr timespec pause{0, 200'000};
  while (true) {
    const pid_t ended = ::waitpid(child.pid, &child.status, WNOHANG);
    child.reaped = ended == child.pid;
    // ECHILD: the program ignores SIGCHLD, the kernel has reaped it and may give its number away.
    if (child.reaped || (ended < 0 && errno != EINTR)) return true;
    if (Clock::now() >= deadline) return false;
    ::nanosleep(&pause, nullptr);
  }
}

void finish(Child& child, Clock::time_point deadline) {
  if (child.pid < 0) return;
  // The pipe's end is the child's end, but for the moment between the two.
  if (child.output < 0 && reap(child, std::max(deadline, Clock::now() + patience_after_kill))) {
    return;
  }
  child.timed_out = !child.overflowed;
  kill_child(child);
  if (child.output >= 0) close_output(child);
  reap(child, Clock::now() + patience_after_kill);
}

DriverAnswer conclude(Child&& child) {
  DriverAnswer answer;
  if (child.pid < 0) return answer;
  const bool done = child.text.ends_with(farewell);
  if (done) child.text.resize(child.text.size() - farewell.size());
  answer.lines = std::move(child.text);
  if (done) {
    answer.end = DriverAnswer::End::finished;
  } else if (child.timed_out) {
    answer.end = DriverAnswer::End::timed_out;
  } else {
    answer.end = DriverAnswer::End::crashed;
    const bool killed = child.reaped && WIFSIGNALED(child.status) && !child.overflowed;
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
  }
  gather(children, deadline);
  std::vector<DriverAnswer> answers;
  answers.reserve(children.size());
  for (Child& child : children) {
    finish(child, deadline);
    answers.push_back(conclude(std::move(child)));
  }
  return answers;
}

std::string run_program(const std::string& command, std::chrono::milliseconds time_limit) {
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
  finish(child, deadline);
  return std::move(child.text);
}

}  // namespace axle::detect

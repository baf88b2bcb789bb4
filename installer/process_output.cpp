#include "installer/process_output.h"

#include <array>
#include <atomic>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installer/descriptor.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace axle::installer {
namespace {

constexpr std::size_t output_bound = 4U << 20;

/// The leader of the group that runs, for a signal handler; 0: none does.
std::atomic<pid_t> running = 0;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::unexpected(system_error("create", "a pipe", errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// In the child, system calls only. A process group of its own, so that what a wrapper script
/// started ends with it; and it ends with its parent.
[[noreturn]] void become(char* const* argv, int out, int err, int trouble, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // A stream that is closed in the parent must not have become one of the pipes.
  const int apart_out = ::fcntl(out, F_DUPFD_CLOEXEC, 3);
  const int apart_err = ::fcntl(err, F_DUPFD_CLOEXEC, 3);
  trouble = ::fcntl(trouble, F_DUPFD_CLOEXEC, 3);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0 && (nothing == 0 || ::dup2(nothing, 0) == 0) && ::dup2(apart_out, 1) == 1 &&
      ::dup2(apart_err, 2) == 2)
    ::execve(argv[0], argv, environ);
  const int number = errno;
  (void)!::write(trouble, &number, sizeof(number));
  ::_exit(127);
}

Result<pid_t> start(const std::vector<std::string>& arguments, int out, int err) {
  auto trouble = make_pipe();
  if (!trouble) return std::unexpected(trouble.error());
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(argv.data(), out, err, trouble->write.get(), parent);
  if (pid < 0) return std::unexpected(system_error("start", arguments[0], errno));
  ::setpgid(pid, pid);  // whoever of the two is first
  running = pid;
  trouble->write.close();
  int number = 0;
  ssize_t got = 0;
  do {
    got = ::read(trouble->read.get(), &number, sizeof(number));
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(number))) return pid;
  running = 0;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return std::unexpected(system_error("start", arguments[0], number));
}

/// Reads both streams until they end. False: time or bound was exceeded, and `output` says which.
bool drain(std::array<Pipe, 2>& pipes, std::chrono::steady_clock::time_point deadline,
           ProcessOutput& output) {
  std::array<pollfd, 2> waits{pollfd{pipes[0].read.get(), POLLIN, 0},
                              pollfd{pipes[1].read.get(), POLLIN, 0}};
  const std::array<std::string*, 2> texts{&output.out, &output.err};
  std::array<char, 1U << 14> buffer;
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      output.timed_out = true;
      return false;
    }
    if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || waits[i].revents == 0) continue;
      const ssize_t got = ::read(waits[i].fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        waits[i].fd = -1;
        continue;
      }
      texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      if (texts[i]->size() > output_bound) {
        output.too_long = true;
        return false;
      }
    }
  }
  return true;
}

/// The streams may end before the process does.
void reap(pid_t pid, bool alive, std::chrono::steady_clock::time_point deadline,
          ProcessOutput& output) {
  int status = 0;
  timespec pause{0, 200'000};
  while (alive) {
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) {
      running = 0;
      output.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      return;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      output.timed_out = true;
      break;
    }
    ::nanosleep(&pause, nullptr);
    if (pause.tv_nsec < 10'000'000) pause.tv_nsec *= 2;
  }
  ::kill(-pid, SIGKILL);
  running = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  output.exit_code = 128 + SIGKILL;
}

}  // namespace

Result<ProcessOutput> run_process(const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::array<Pipe, 2> pipes;
  for (Pipe& pipe : pipes) {
    auto made = make_pipe();
    if (!made) return std::unexpected(made.error());
    pipe = std::move(*made);
  }
  auto pid = start(arguments, pipes[0].write.get(), pipes[1].write.get());
  if (!pid) return std::unexpected(pid.error());
  for (Pipe& pipe : pipes) pipe.write.close();
  ProcessOutput output;
  const bool ended = drain(pipes, deadline, output);
  reap(*pid, ended, deadline, output);
  return output;
}

void kill_running_process() {
  if (const pid_t group = running; group > 0) ::kill(-group, SIGKILL);
}

}  // namespace axle::installer

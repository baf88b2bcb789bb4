#include "installer/process_output.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installer/descriptor.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace axle::installer {
namespace {

constexpr std::size_t output_bound = 4U << 20;

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

/// A process group of its own, so that what a wrapper script started ends with it.
Result<pid_t> spawn(const std::vector<std::string>& arguments, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int code = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return std::unexpected(system_error("start", arguments[0], code));
  return pid;
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
  auto pid = spawn(arguments, pipes[0].write.get(), pipes[1].write.get());
  if (!pid) return std::unexpected(pid.error());
  for (Pipe& pipe : pipes) pipe.write.close();
  ProcessOutput output;
  const bool ended = drain(pipes, deadline, output);
  reap(*pid, ended, deadline, output);
  return output;
}

}  // namespace axle::installer

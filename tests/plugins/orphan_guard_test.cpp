// A process that runs plugins is killed: nothing that they started is left.
#include "providers/plugins/orphan_guard.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/plugins/sandbox.h"
#include "tests/plugins/attempts.h"
#include "tests/plugins/scratch_folder.h"

namespace fs = std::filesystem;
using namespace axle::plugins;
using namespace std::chrono_literals;
using testing::skip_python;
using testing::skip_without;

namespace {

/// Empty where the process has ended, be it while it is read: an iterator over the stream would
/// throw.
std::string read_of_process(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(65536, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// Processes, zombies apart, with `word` in their command lines.
std::vector<pid_t> running_with(const std::string& word) {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string command = read_of_process(entry->path() / "cmdline");
    if (command.find(word) != std::string::npos)  // a zombie has none
      found.push_back(static_cast<pid_t>(std::stol(entry->path().filename())));
  }
  return found;
}

bool comes_to(const std::string& word, std::size_t count) {
  for (int i = 0; i < 1000; ++i) {
    if (running_with(word).size() == count) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

/// A child, a grandchild whose parent is gone, and all try to leave the session and the group.
constexpr std::string_view forking = R"(#!/usr/bin/python3
import os, time
def leave():
    for way in (os.setsid, lambda: os.setpgid(0, 0)):
        try: way()
        except OSError: pass
leave()
if os.fork() == 0:
    leave()
    if os.fork() == 0:
        leave()
        if os.fork() == 0:
            time.sleep(600)
        time.sleep(600)
    os._exit(0)
time.sleep(600)
)";

/// From here on `call` fails with `error` in this process; only where its first argument is
/// `first`, if one is given.
bool deny(long call, unsigned error, std::optional<unsigned> first = {}) {
  std::vector<sock_filter> program = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0,
               static_cast<unsigned char>(first ? 3 : 1))};
  if (first) {
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, *first, 0, 1));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog whole{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}

ConfinedTask task_of(const testing::ScratchFolder& folder) {
  ConfinedTask task;
  task.program = folder.program("plugin-with-children", forking);
  task.environment = {"PATH=/usr/bin:/bin"};
  task.limits.time = 600s;
  task.grants.programs = {"/bin/true"};  // whoever may start one probe may fork
  return task;
}

/// Two such plugins run in a process that `withhold` has taken something from: once it is killed,
/// nothing of them is left.
void check_that_all_end(int how, const std::function<bool()>& withhold) {
  const testing::ScratchFolder folder;
  const std::array tasks = {task_of(folder), task_of(folder)};
  const std::string& program = tasks[0].program;
  const pid_t asker = ::fork();
  if (asker == 0) {
    ::signal(how, SIG_DFL);
    if (!withhold()) ::_exit(1);
    (void)run_confined(tasks);
    ::_exit(0);
  }
  // Of each: itself, and two whose parents are gone or sleep.
  const bool started = comes_to(program, 6);
  ::kill(asker, how);
  ::waitpid(asker, nullptr, 0);
  const bool ended = comes_to(program, 0);
  for (const pid_t left : running_with(program)) ::kill(left, SIGKILL);
  CHECK(started);
  CHECK(ended);
}

bool can_confine() {
  const SandboxSupport support = probe_sandbox();
  return !skip_python() && !skip_without(support.landlock > 0 && support.seccomp, "Landlock");
}

/// The number of a process that this one has started.
pid_t child_of_this_process() {
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string text = read_of_process(entry->path() / "stat");
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) continue;
    if (std::stol(text.substr(name_end + 4)) == ::getpid())
      return static_cast<pid_t>(std::stol(text));
  }
  return -1;
}

}  // namespace

TEST_CASE("what a plugin started ends with the process that asked it, however that ends") {
  if (!can_confine()) return;
  for (const int how : {SIGKILL, SIGTERM}) check_that_all_end(how, [] { return true; });
}

TEST_CASE("so it does where the kernel tells nobody of a parent's death") {
  if (!can_confine()) return;
  check_that_all_end(SIGKILL, [] {
    return deny(SYS_prctl, EPERM, PR_SET_PDEATHSIG) && deny(SYS_pidfd_open, ENOSYS);
  });
}

TEST_CASE("where no guard can be made, no plugin runs, and its result says so") {
  if (!can_confine()) return;
  const testing::ScratchFolder folder;
  const std::array tasks = {task_of(folder)};
  std::array<int, 2> ends{-1, -1};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t asker = ::fork();
  if (asker == 0) {
    bool denied = true;
    for (const long call : {SYS_clone, SYS_clone3}) denied = denied && deny(call, EAGAIN);
    const std::string why = denied ? run_confined(tasks)[0].why : "nothing was denied";
    (void)!::write(ends[1], why.data(), why.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string why(4096, '\0');
  const ssize_t got = ::read(ends[0], why.data(), why.size());
  why.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  ::close(ends[0]);
  ::waitpid(asker, nullptr, 0);
  CHECK(why.starts_with("its guard process cannot be created"));
  CHECK(running_with(tasks[0].program).empty());
}

TEST_CASE("a plugin whose guard has been killed is not started") {
  const auto guard = OrphanGuard::start();
  REQUIRE(guard);
  const auto former = ::signal(SIGPIPE, SIG_IGN);
  const pid_t process = child_of_this_process();
  REQUIRE(process > 0);
  ::kill(process, SIGKILL);
  siginfo_t info = {};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) == 0);
  CHECK(!OrphanGuard::guard_own_group(guard->descriptor()));
  ::signal(SIGPIPE, former);
}

TEST_CASE("a guard that is not needed kills nobody and is gone") {
  std::array<int, 2> ends{-1, -1};
  REQUIRE(::pipe(ends.data()) == 0);
  pid_t child = -1;
  {
    const auto guard = OrphanGuard::start();
    REQUIRE(guard);
    child = ::fork();
    if (child == 0) {
      ::setsid();
      const char answer = OrphanGuard::guard_own_group(guard->descriptor()) ? 'y' : 'n';
      (void)!::write(ends[1], &answer, 1);
      ::pause();
      ::_exit(0);
    }
    char answer = 0;
    REQUIRE(::read(ends[0], &answer, 1) == 1);
    CHECK(answer == 'y');
  }
  std::this_thread::sleep_for(100ms);
  CHECK(::kill(child, 0) == 0);
  CHECK(::waitpid(child, nullptr, WNOHANG) == 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

// A process that runs plugins is killed: nothing that they started is left.
#include "providers/plugins/orphan_guard.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
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

/// Processes, zombies apart, with `word` in their command lines.
std::vector<pid_t> running_with(const std::string& word) {
  std::vector<pid_t> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::ifstream file(entry->path() / "cmdline", std::ios::binary);
    const std::string command{std::istreambuf_iterator<char>(file), {}};
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

}  // namespace

TEST_CASE("what a plugin started ends with the process that asked it, however that ends") {
  const SandboxSupport support = probe_sandbox();
  if (skip_python() || skip_without(support.landlock > 0 && support.seccomp, "Landlock")) return;
  for (const int how : {SIGKILL, SIGTERM}) {
    const testing::ScratchFolder folder;
    ConfinedTask task;
    task.program = folder.program("plugin-with-children", forking);
    task.environment = {"PATH=/usr/bin:/bin"};
    task.limits.time = 600s;
    task.grants.programs = {"/bin/true"};  // whoever may start one probe may fork
    const std::array tasks = {task, task};
    const pid_t asker = ::fork();
    if (asker == 0) {
      ::signal(how, SIG_DFL);
      (void)run_confined(tasks);
      ::_exit(0);
    }
    // Of each: itself, and two whose parents are gone or sleep.
    const bool started = comes_to(task.program, 6);
    ::kill(asker, how);
    ::waitpid(asker, nullptr, 0);
    const bool ended = comes_to(task.program, 0);
    for (const pid_t left : running_with(task.program)) ::kill(left, SIGKILL);
    CHECK(started);
    CHECK(ended);
  }
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
      const char answer = guard->guard_own_group() ? 'y' : 'n';
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

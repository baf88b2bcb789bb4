// Plugins that make more and more of themselves.
#include <string>
#include <utility>

#include <doctest/doctest.h>
#include <unistd.h>

#include "providers/plugins/landlock.h"
#include "providers/plugins/sandbox.h"
#include "providers/plugins/session_use.h"
#include "tests/plugins/attempts.h"

using namespace axle::plugins;
using namespace std::chrono_literals;
using testing::skip_python;
using testing::skip_without;

TEST_CASE("a line of /proc/PID/stat is read whatever the process calls itself") {
  const std::string rest =
      " S 1 2 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 9 0 100 1000000 11 18446744073709551615 1\n";
  for (const char* name : {"sh", "a b", ") S 1 2 3", "((", ""}) {
    CAPTURE(name);
    const auto stat = parse_process_stat("4711 (" + std::string(name) + ")" + rest);
    REQUIRE(stat.has_value());
    CHECK(stat->state == 'S');
    CHECK(stat->session == 77);
    CHECK(stat->use.tasks == 9);
    CHECK(stat->use.resident == 11 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  }
  for (const char* broken :
       {"", "4711 (sh", "4711 (sh)", "4711 (sh) S 1 2 x 0", "4711 (sh) S 1 2 3"})
    CHECK_FALSE(parse_process_stat(broken).has_value());
}

TEST_CASE("this process takes at least one thread and a page") {
  const SessionUse use = read_session_use(::getpid(), true);
  CHECK(use.tasks >= 1);
  CHECK(use.resident > 4096);
}

TEST_CASE("who needs long to look waits longer before the next look") {
  CHECK(pause_after_look(0ns) == 25ms);
  CHECK(pause_after_look(2ms) == 25ms);
  CHECK(pause_after_look(14ms) == 140ms);
  CHECK(pause_after_look(1h) == 1s);
}

TEST_CASE("too many threads end a plugin") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  AskOptions options;
  options.limits.tasks = 20;
  const PluginAnswer answer =
      testing::ask(folder.executable(
                       "threading.stack_size(65536)\nfor i in range(40):\n"
                       "    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
                       "time.sleep(600)"),
                   options);
  REQUIRE_FALSE(answer.features.has_value());
  CHECK(answer.features.error().fault == PluginFault::swarmed);
  CHECK(answer.features.error().message.find("more than 20") != std::string::npos);
}

TEST_CASE("too many processes, or too much memory of all, end who may make processes") {
  const SandboxSupport support = probe_sandbox();
  if (skip_python() || skip_without(support.landlock > 0 && support.seccomp, "Landlock")) return;
  const testing::ScratchFolder folder;
  for (const bool of_memory : {false, true}) {
    CAPTURE(of_memory);
    ConfinedTask task;
    task.program = folder.program("plugin",
                                  "#!/usr/bin/python3\nimport os, time\n"
                                  "for i in range(30):\n"
                                  "    if os.fork() == 0:\n"
                                  "        kept = os.urandom(1 << 20) * 8\n"
                                  "        time.sleep(600)\n"
                                  "time.sleep(600)\n");
    task.environment = {"PATH=/usr/bin:/bin"};
    task.limits.time = 60s;
    task.limits.tasks = of_memory ? 1000 : 20;
    task.limits.memory = std::size_t{of_memory ? 128U : 4096U} << 20;
    task.grants.programs = {"/bin/true"};  // whoever may start one probe may fork
    const TaskResult result = std::move(run_confined({&task, 1}).front());
    CHECK_MESSAGE(result.end == TaskEnd::swarmed, result.printed);
  }
}

TEST_CASE("memory counts where the first thread of a process has ended") {
  const SandboxSupport support = probe_sandbox();
  if (skip_python() || skip_without(support.landlock > 0 && support.seccomp, "Landlock")) return;
  const testing::ScratchFolder folder;
  ConfinedTask task;
  // What the kernel says of the process as a whole is then that it takes none.
  task.program =
      folder.program("plugin",
                     "#!/usr/bin/python3\nimport ctypes, os, threading, time\n"
                     "def stay():\n"
                     "    time.sleep(0.5)\n"
                     "    kept = os.urandom(1 << 20) * 60\n"
                     "    time.sleep(600)\n"
                     "for i in range(10):\n"
                     "    if os.fork() == 0:\n"
                     "        threading.Thread(target=stay).start()\n"
                     "        number = 60 if os.uname().machine == 'x86_64' else 93\n"
                     "        ctypes.CDLL(None).syscall(number, 0)  # exit, not exit_group\n"
                     "time.sleep(600)\n");
  task.environment = {"PATH=/usr/bin:/bin"};
  task.limits.time = 20s;
  task.limits.memory = std::size_t{400} << 20;
  task.grants.programs = {"/bin/true"};
  const TaskResult result = std::move(run_confined({&task, 1}).front());
  CHECK_MESSAGE(result.end == TaskEnd::swarmed, result.printed);
}

TEST_CASE("processes that nothing forbids are counted, though none were granted") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  ConfinedTask task;
  task.program = folder.program("plugin",
                                "#!/usr/bin/python3\nimport os, time\n"
                                "for i in range(30):\n"
                                "    if os.fork() == 0: time.sleep(600)\n"
                                "time.sleep(600)\n");
  task.environment = {"PATH=/usr/bin:/bin"};
  task.limits.time = 20s;
  task.limits.tasks = 20;
  // As on a kernel without filters of system calls.
  const TaskResult result =
      std::move(run_confined({&task, 1}, {landlock_abi(), false, {}}).front());
  CHECK_MESSAGE(result.end == TaskEnd::swarmed, result.printed);
}

// What can be done through a descriptor that is open for reading: signals to others, changes of the
// file behind it.
#include <atomic>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <signal.h>
#include <unistd.h>

#include "providers/plugins/sandbox.h"
#include "tests/plugins/attempts.h"

using namespace axle::plugins;
using namespace std::chrono_literals;
using testing::is_denied;
using testing::outcome;
using testing::skip_python;
using testing::skip_without;

namespace {

std::atomic<int> signals_seen = 0;

ConfinedTask task_of(const testing::ScratchFolder& folder, std::string_view body) {
  ConfinedTask task;
  task.program = folder.program(
      "plugin", fmt::format("#!/usr/bin/python3\nimport ctypes, fcntl, os, signal, sys\n{}", body));
  task.environment = {"PATH=/usr/bin:/bin"};
  task.limits.time = 60s;
  task.grants.readable = {folder.path()};
  return task;
}

std::string printed_by(const ConfinedTask& task, const SandboxSupport& support) {
  const TaskResult result = std::move(run_confined({&task, 1}, support).front());
  CHECK_MESSAGE(result.end == TaskEnd::exited, result.why);
  return result.printed;
}

}  // namespace

TEST_CASE("no descriptor sends signals to others, whatever Landlock the kernel has") {
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  const testing::ScratchFolder folder;
  const ConfinedTask task = task_of(folder,
                                    "ends = os.pipe()\n"
                                    "for command, what in ((fcntl.F_SETOWN, os.getppid()), (10, "
                                    "signal.SIGUSR1), (fcntl.F_SETFL, os.O_ASYNC)):\n"
                                    "    try: fcntl.fcntl(ends[0], command, what)\n"
                                    "    except OSError as error: print(command, error.errno)\n"
                                    "os.write(ends[1], b'x')\n");
  struct sigaction counts{};
  struct sigaction before{};
  counts.sa_handler = [](int) { ++signals_seen; };
  REQUIRE(::sigaction(SIGUSR1, &counts, &before) == 0);
  // ABI 6 is the first that stops these by itself.
  for (const int abi : {0, 1, probe_sandbox().landlock}) {
    if (abi > probe_sandbox().landlock) continue;
    CAPTURE(abi);
    CHECK(printed_by(task, {abi, true, {}}) == fmt::format("{} 1\n10 1\n", F_SETOWN));
    CHECK(signals_seen == 0);
  }
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("leases and notices, which hold others up, are denied") {
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  const testing::ScratchFolder folder;
  const std::string own = fmt::format("os.open('{}/provider', os.O_RDONLY)", folder.path());
  for (const int command : {F_SETLEASE, F_NOTIFY, F_SETOWN_EX}) {
    CAPTURE(command);
    CHECK(is_denied(
        outcome(folder, fmt::format("__import__('fcntl').fcntl({}, {}, 0)", own, command))));
  }
  CHECK(outcome(folder, "__import__('fcntl').fcntl(0, 3)").starts_with("done"));  // F_GETFL
}

TEST_CASE("a file is not changed through a descriptor that is open for reading") {
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  const testing::ScratchFolder folder;
  const std::string script = fmt::format(
      "place = os.open('{}/plugin', os.O_RDONLY)\n"
      "for request in ({}, {}, {}, {}, {}, {}):\n"
      "    try: print(hex(request), fcntl.ioctl(place, request, bytearray(128)))\n"
      "    except OSError as error: print(error.errno)\n"
      "for attribute in (os.isatty, os.get_blocking):\n"
      "    attribute(1)\n",
      folder.path(), FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, 0x40806685 /* FS_IOC_ENABLE_VERITY */,
      FICLONE, FIDEDUPERANGE, 0x40047211 /* FAT_IOCTL_SET_ATTRIBUTES */);
  for (const bool devices : {false, true}) {
    CAPTURE(devices);
    if (devices && skip_without(probe_sandbox().landlock > 0, "Landlock")) continue;
    ConfinedTask task = task_of(folder, script);
    if (devices) task.grants.devices = {"/dev/null"};
    CHECK(printed_by(task, probe_sandbox()) == "1\n1\n1\n1\n1\n1\n");
  }
}

TEST_CASE("requests to a device that was granted come through") {
  const SandboxSupport support = probe_sandbox();
  if (skip_python() || skip_without(support.landlock > 0 && support.seccomp, "Landlock")) return;
  const testing::ScratchFolder folder;
  // Unknown requests to /dev/null: its driver has none, ENOTTY; the filter would say ENOSYS, EPERM.
  ConfinedTask task = task_of(folder,
                              "place = os.open('/dev/null', os.O_RDWR)\n"
                              "for kind in (0, 0x41, 0x46, 0x4b, 0x57, 0x59, 0x64, 0x65, 0x67, "
                              "0x93, 0x95, 0xf4, 0xff):\n"
                              "    try: print(fcntl.ioctl(place, 0xc0080000 | kind << 8 | 7, "
                              "bytearray(8)))\n"
                              "    except OSError as error: print(error.errno, end=' ')\n");
  task.grants.devices = {"/dev/null"};
  CHECK(printed_by(task, support) == "25 25 25 25 25 25 25 25 25 25 25 25 25 ");
}

TEST_CASE("a plugin moves no other process to other processors") {
  if (skip_python() || skip_without(probe_sandbox().seccomp, "seccomp")) return;
  const testing::ScratchFolder folder;
  const std::string all = "os.sched_getaffinity(0)";
  CHECK(is_denied(outcome(folder, fmt::format("os.sched_setaffinity(os.getppid(), {})", all))));
  CHECK(is_denied(outcome(folder, fmt::format("os.sched_setaffinity(1, {})", all))));
  CHECK(outcome(folder, fmt::format("os.sched_setaffinity(0, {})", all)).starts_with("done"));
}

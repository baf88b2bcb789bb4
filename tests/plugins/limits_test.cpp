// What the kernel counts for a plugin, and that it cannot have more.
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "providers/plugins/sandbox.h"
#include "tests/plugins/attempts.h"

using namespace axle::plugins;
using testing::outcome;
using testing::skip_python;
using testing::skip_without;

TEST_CASE("memory, open files and file sizes have limits that cannot be raised") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  CHECK(outcome(folder, "len(bytearray(2 << 30))").starts_with("MemoryError"));
  CHECK(outcome(folder, "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))")
            .starts_with("ValueError"));
  CHECK(outcome(folder, "[os.dup(0) for i in range(1000)]").starts_with("OSError 24"));
  CHECK(outcome(folder, "os.write(os.memfd_create('x'), b'y')").starts_with("OSError 27"));
}

TEST_CASE("no core dump, not even into a program") {
  if (skip_python()) return;
  const testing::ScratchFolder folder;
  rlimit ours{};
  REQUIRE(::getrlimit(RLIMIT_CORE, &ours) == 0);
  // Zero holds for files alone (fs/coredump.c of Linux); who may have none can have no one either.
  CHECK(outcome(folder, "resource.getrlimit(resource.RLIMIT_CORE)") ==
        (ours.rlim_max > 0 ? "done (1, 1)" : "done (0, 0)"));
  if (skip_without(probe_sandbox().seccomp, "seccomp")) return;
  CHECK_FALSE(
      outcome(folder, "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))").starts_with("done"));
  // The kernel looks at the lower half of the resource's number alone.
  const std::string call =
      fmt::format("libc.syscall({}, 0, ctypes.c_long({} + (1 << 32)), (ctypes.c_long * 2)(), 0)",
                  SYS_prlimit64, static_cast<int>(RLIMIT_CORE));
  CHECK(outcome(folder, call) == "done -1");
  CHECK(
      outcome(folder, "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))").starts_with("done"));
}

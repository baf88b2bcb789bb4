// What the kernel counts for a plugin, and that it cannot have more.
#include <string>

#include <doctest/doctest.h>
#include <sys/resource.h>

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
  // Programs lower their limits as they start: sanitizers this one.
  CHECK(outcome(folder, "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))").starts_with("done"));
}

#include "providers/plugins/program_start.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/plugins/scratch_folder.h"

using namespace axle::plugins;

TEST_CASE("a script is started by its interpreter, in one step") {
  const testing::ScratchFolder folder;
  const std::string script = folder.program("script", "#! /bin/sh -e\n");
  const ProgramStart start = start_of(script, {"supported"}, "/usr/bin:/bin");
  CHECK(start.program == "/bin/sh");
  CHECK(start.arguments == std::vector<std::string>{"/bin/sh", "-e", script, "supported"});
}

TEST_CASE("env is seen through") {
  const testing::ScratchFolder folder;
  const std::string script = folder.program("script", "#!/usr/bin/env sh\n");
  const ProgramStart start = start_of(script, {}, "/bin:/usr/bin");
  CHECK(start.program == "/bin/sh");
  CHECK(start.arguments == std::vector<std::string>{"/bin/sh", script});
  // Options of env are left to env, which then cannot start anything.
  const std::string odd = folder.program("odd", "#!/usr/bin/env -S sh -e\n");
  CHECK(start_of(odd, {}, "/bin").program == "/usr/bin/env");
}

TEST_CASE("a script of a script and one of itself end") {
  const testing::ScratchFolder folder;
  const std::string inner = folder.program("inner", "#!/bin/sh\n");
  const std::string outer = folder.program("outer", "#!" + inner + "\n");
  CHECK(start_of(outer, {}, "/bin").arguments == std::vector<std::string>{"/bin/sh", inner, outer});
  const std::string loop = folder.path() + "/loop";
  CHECK(folder.program("loop", "#!" + loop + "\n") == loop);
  CHECK(start_of(loop, {}, "/bin").arguments.size() <= 6);
  CHECK(files_to_start(loop, "/bin").size() <= 6);
}

TEST_CASE("a binary needs its loader") {
  const std::vector<std::string> files = files_to_start("/proc/self/exe", "/bin");
  REQUIRE(files.size() == 2);
  CHECK(::access(files[1].c_str(), X_OK) == 0);
  const testing::ScratchFolder folder;
  CHECK(files_to_start(folder.program("text", "no program at all"), "/bin").size() == 1);
  CHECK(files_to_start(folder.program("cut",
                                      "\x7f"
                                      "ELF"),
                       "/bin")
            .size() == 1);
  CHECK(files_to_start("/nowhere/at/all", "/bin").size() == 1);
}

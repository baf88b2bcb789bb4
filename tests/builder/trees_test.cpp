// The folder in which a project is built, and when what is in it counts.

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <signal.h>

#include "builder/trees/build_record.h"
#include "builder/trees/build_trees.h"
#include "builder/trees/history.h"
#include "foundation/system/program_run.h"
#include "tests/support/scratch.h"

namespace axle::builder {
namespace {

using testing::output_of;
using testing::Scratch;

TEST_CASE("the lock of a build ends with it, whatever it has started") {
  const Scratch scratch;
  CollectedReport report;
  pid_t server = 0;
  {
    const auto trees = BuildTrees::open(scratch.at("work"), report);
    REQUIRE(trees.has_value());
    // As sccache does: the first compiler leaves a server behind.
    system::ProgramSettings settings;
    settings.child.inherits_descriptors = true;
    const auto run = system::run_program(
        {{"/bin/sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo $!"}}, settings);
    REQUIRE(run.has_value());
    server = std::atoi(run->out.c_str());
    REQUIRE(server > 1);
    CHECK(output_of("flock -n '" + scratch.at("work/lock") + "' echo free || true").empty());
  }
  CHECK(output_of("flock -n '" + scratch.at("work/lock") + "' echo free") == "free\n");
  CHECK(::kill(server, SIGKILL) == 0);
}

BuildRecord finished(std::map<std::string, InputFile> inputs) {
  return {"settings", 1000, std::move(inputs), "demo-1.0-py3-none-any.whl", "0"};
}

TEST_CASE("a new file that stands before another of its name is not left to Ninja") {
  const std::map<std::string, InputFile> before = {{"/p/later/config.h", {"a", 1, 10, 1}},
                                                   {"/p/main.c", {"b", 1, 10, 2}}};
  auto now = before;
  CHECK(compare_inputs(finished(before), now) == InputState::same);
  now["/p/part.c"] = {"c", 1, 2000, 3};
  CHECK(compare_inputs(finished(before), now) == InputState::newer);
  now["/p/first/config.h"] = {"d", 1, 2000, 4};
  CHECK(compare_inputs(finished(before), now) == InputState::older);
  // Of a build that was cut it is not known what it has read.
  BuildRecord cut = finished(before);
  cut.wheel.clear();
  now.erase("/p/first/config.h");
  CHECK(compare_inputs(cut, now) == InputState::older);
}

TEST_CASE("the history of a project is its commit and its tags") {
  const Scratch scratch;
  if (output_of("command -v git").empty()) {
    MESSAGE("SKIP: no git");
    return;
  }
  CHECK(history_of(scratch.at("")).empty());
  const std::string project = scratch.at("project");
  const auto git = [&](const std::string& what) {
    return output_of("git -C '" + project +
                     "' -c user.name=a -c user.email=a@example.org -c commit.gpgsign=false " +
                     what + " 2>&1");
  };
  (void)output_of("git init -q '" + project + "'");
  const std::string empty = history_of(project);
  (void)git("commit -q --allow-empty -m one");
  const std::string one = history_of(project);
  CHECK(one != empty);
  (void)git("tag v1.0");
  const std::string tagged = history_of(project);
  CHECK(tagged != one);
  (void)git("branch other");
  CHECK(history_of(project) == tagged);
  (void)git("pack-refs --all");
  CHECK(history_of(project) == tagged);
  (void)git("worktree add -q '" + scratch.at("beside") + "' other");
  CHECK_FALSE(history_of(scratch.at("beside")).empty());
  CHECK(history_of(scratch.at("beside")) != tagged);  // another branch
  (void)git("commit -q --allow-empty -m two");
  CHECK(history_of(project) != tagged);
  (void)git("tag -d v1.0");
  CHECK(history_of(scratch.at("project/nowhere")).empty());
}

}  // namespace
}  // namespace axle::builder

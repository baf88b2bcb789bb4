#include "foundation/system/program_run.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/scratch.h"

using namespace axle::system;
using namespace std::chrono_literals;

namespace {

Program shell(const std::string& script) { return {{"/bin/sh", "-c", script}}; }

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a program's streams are apart, joined, dropped or in a log") {
  const Program both = shell("echo out; echo err >&2; exit 3");
  const auto apart = run_program(both);
  REQUIRE(apart);
  CHECK(apart->exit_code == 3);
  CHECK(apart->out == "out\n");
  CHECK(apart->err == "err\n");
  CHECK(run_program(both, {.errors = ErrorStream::with_output})->out == "out\nerr\n");
  const auto dropped = run_program(both, {.errors = ErrorStream::dropped});
  CHECK(dropped->out == "out\n");
  CHECK(dropped->err.empty());
  const axle::builder::testing::Scratch scratch;
  const std::string log = scratch.at("log");
  const ProgramSettings logged{.errors = ErrorStream::with_output, .log = log};
  CHECK(run_program(both, logged)->out.empty());
  CHECK(run_program(shell("echo again"), logged)->exit_code == 0);
  CHECK(content(log) == "out\nerr\nagain\n");
}

TEST_CASE("stdout can be taken piece by piece, without a bound") {
  std::size_t taken = 0;
  ProgramSettings settings;
  settings.most_output = 10;
  settings.take_output = [&](std::string_view piece) { taken += piece.size(); };
  const auto run = run_program(shell("head -c 300000 /dev/zero"), settings);
  REQUIRE(run);
  CHECK(taken == 300000);
  CHECK(run->out.empty());
  CHECK_FALSE(run->too_long);
}

TEST_CASE("variables are withheld by the beginning of their names, unless they are given") {
  ::setenv("AXLE_TEST_A", "1", 1);
  ::setenv("AXLE_TEST_B", "2", 1);
  Program program = shell("echo \"$AXLE_TEST_A,$AXLE_TEST_B,${PATH:+path}\"");
  CHECK(run_program(program)->out == "1,2,path\n");
  program.withheld = {"AXLE_TEST_"};
  CHECK(run_program(program)->out == ",,path\n");
  program.variables = {{"AXLE_TEST_B", "3"}};
  CHECK(run_program(program)->out == ",3,path\n");
  ::unsetenv("AXLE_TEST_A");
  ::unsetenv("AXLE_TEST_B");
}

TEST_CASE("a program that prints without end meets its bound, or its time limit") {
  const auto bounded = run_program(shell("yes"), {.most_output = 1000});
  REQUIRE(bounded);
  CHECK(bounded->too_long);
  CHECK(bounded->exit_code == 128 + SIGKILL);
  ProgramSettings settings;
  settings.time_limit = 300ms;
  settings.take_output = [](std::string_view) { std::this_thread::sleep_for(1ms); };
  const auto begin = std::chrono::steady_clock::now();
  const auto limited = run_program(shell("yes"), settings);
  REQUIRE(limited);
  CHECK(limited->timed_out);
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
}

TEST_CASE("what ends late is killed with what it started, and reaped") {
  const axle::builder::testing::Scratch scratch;
  const std::string mark = scratch.at("pid");
  const auto run =
      run_program(shell("sleep 60 & echo $! > " + mark + "; sleep 60"), {.time_limit = 1s});
  REQUIRE(run);
  CHECK(run->timed_out);
  CHECK(run->exit_code == 128 + SIGKILL);
  const pid_t left = std::stoi(content(mark));
  bool runs = true;
  for (int i = 0; i < 500 && runs; ++i, std::this_thread::sleep_for(10ms)) {
    // The first process of the machine may reap it late: a zombie has no command line.
    runs = !content("/proc/" + std::to_string(left) + "/cmdline").empty();
  }
  CHECK_FALSE(runs);
  CHECK_FALSE(has_children());
}

TEST_CASE("a run ends with its program, whoever holds its streams") {
  const auto begin = std::chrono::steady_clock::now();
  const auto run = run_program(shell("sleep 30 & echo here"), {.kills_leftovers = true});
  REQUIRE(run);
  CHECK(run->out == "here\n");
  CHECK(run->exit_code == 0);
  CHECK_FALSE(run->timed_out);
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
}

TEST_CASE("a program that cannot be started says why") {
  CHECK(run_program({{"/does/not/exist"}}).error() == std::errc::no_such_file_or_directory);
  CHECK(run_program({{"no-program-of-this-name"}}).error() == std::errc::no_such_file_or_directory);
  CHECK(run_program({{"/etc/passwd"}}).error() == std::errc::permission_denied);
  CHECK(run_program({{"/bin/true"}, "/does/not/exist"}).error() ==
        std::errc::no_such_file_or_directory);
  CHECK_FALSE(has_children());
}

TEST_CASE("a name is looked up, variables are put on top, and the folder is where it runs") {
  ::setenv("AXLE_TEST_KEPT", "kept", 1);
  ::setenv("AXLE_TEST_REPLACED", "old", 1);
  const auto run = run_program({{"sh", "-c", "pwd; echo $AXLE_TEST_KEPT $AXLE_TEST_REPLACED"},
                                "/usr",
                                {{"AXLE_TEST_REPLACED", "new"}}});
  REQUIRE(run);
  CHECK(run->out == "/usr\nkept new\n");
  ::unsetenv("AXLE_TEST_KEPT");
  ::unsetenv("AXLE_TEST_REPLACED");
}

TEST_CASE("a program has an empty stdin and none of our descriptors, unless they are inherited") {
  const int ours = ::dup2(STDERR_FILENO, 9);  // deliberately inheritable
  REQUIRE(ours == 9);
  const Program list = shell("cat; test -e /proc/self/fd/9 && echo open || echo closed");
  CHECK(run_program(list)->out == "closed\n");
  ProgramSettings settings;
  settings.child.inherits_descriptors = true;
  CHECK(run_program(list, settings)->out == "open\n");
  ::close(ours);
}

TEST_CASE("a signal handler can end what runs") {
  std::thread later([] {
    std::this_thread::sleep_for(300ms);
    kill_running_programs();
  });
  const auto run = run_program(shell("sleep 60 & sleep 60"), {.time_limit = 50s});
  later.join();
  REQUIRE(run);
  CHECK_FALSE(run->timed_out);
  CHECK(run->exit_code == 128 + SIGKILL);
}

TEST_CASE("a program of our group keeps the signals that we ignore, others do not") {
  const auto before = ::signal(SIGUSR1, SIG_IGN);
  const Program kills_itself = shell("kill -USR1 $$; echo alive");
  CHECK(run_program(kills_itself)->exit_code == 128 + SIGUSR1);
  ProgramSettings settings;
  settings.child.group = Group::shared;
  CHECK(run_program(kills_itself, settings)->out == "alive\n");
  ::signal(SIGUSR1, before);
}

TEST_CASE("where the kernel reaps our children, the exit code is unknown") {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const auto run = run_program(shell("echo here"));
  ::signal(SIGCHLD, before);
  REQUIRE(run);
  CHECK(run->out == "here\n");
  CHECK(run->exit_code == -1);
}

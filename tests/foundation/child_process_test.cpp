#include "foundation/system/child_process.h"

#include <array>
#include <chrono>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"

using namespace axle::system;
using namespace std::chrono_literals;

TEST_CASE("a child's places hold what they are given, in any order, and nothing else is open") {
  auto first = make_pipe();
  auto second = make_pipe();
  REQUIRE(first);
  REQUIRE(second);
  ChildSettings settings;
  // Each where the other may lie before it is moved.
  settings.places = {nowhere, nowhere, nowhere, second->write.get(), nowhere, first->write.get()};
  auto child = fork_child(settings, [] {
    (void)!::write(3, "second", 6);
    (void)!::write(5, "first", 5);
    int open = 0;
    for (int number = 0; number < 256; ++number) open += ::fcntl(number, F_GETFD) != -1 ? 1 : 0;
    leave(open);
  });
  REQUIRE(child);
  first->write.reset();
  second->write.reset();
  const Ending ending = child->reap(ChildProcess::Clock::now() + 20s);
  CHECK(ending.known);
  CHECK(ending.exit_code == 5);  // the streams and the two
  CHECK(ending.peak_memory > 0);
  std::array<char, 16> text{};
  CHECK(::read(first->read.get(), text.data(), text.size()) == 5);
  CHECK(::read(second->read.get(), text.data(), text.size()) == 6);
}

TEST_CASE("a child says how it ended, and keeps its number until it is reaped") {
  auto killed = fork_child({}, [] { ::raise(SIGSEGV); });
  REQUIRE(killed);
  REQUIRE(killed->wait_until(ChildProcess::Clock::now() + 20s));
  CHECK(::kill(killed->id(), 0) == 0);
  const Ending ending = killed->reap();
  CHECK(ending.signal == SIGSEGV);
  CHECK(ending.exit_code == 128 + SIGSEGV);
  CHECK(killed->id() == -1);
  auto returned = fork_child({}, [] {});
  REQUIRE(returned);
  CHECK(returned->reap(ChildProcess::Clock::now() + 20s).exit_code == 127);
}

TEST_CASE("a child goes with its object") {
  pid_t id = 0;
  {
    auto child = fork_child({}, [] {
      while (true) ::pause();
    });
    REQUIRE(child);
    id = child->id();
    CHECK_FALSE(child->has_ended());
    CHECK(::getpgid(id) == id);
  }
  CHECK(::waitpid(id, nullptr, WNOHANG) == -1);
}

TEST_CASE("a child dies with the thread that started it, unless it is to stay") {
  for (const bool dies : {true, false}) {
    ChildSettings settings;
    settings.dies_with_parent = dies;
    ChildProcess child;
    std::thread starter([&] {
      auto forked = fork_child(settings, [] {
        while (true) ::pause();
      });
      if (forked) child = std::move(*forked);
      std::this_thread::sleep_for(200ms);  // until it has said so to the kernel
    });
    starter.join();
    REQUIRE(child.id() > 0);
    CHECK(child.wait_until(ChildProcess::Clock::now() + (dies ? 20s : 300ms)) == dies);
  }
}

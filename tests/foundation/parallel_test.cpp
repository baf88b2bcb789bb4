#include "foundation/system/parallel.h"

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

namespace axle::system {
namespace {

TEST_CASE("every call is made once, whatever the number of threads") {
  for (const unsigned threads : {0U, 1U, 2U, 7U, 1000U}) {
    std::vector<std::atomic<int>> made(500);
    for_each_at_once(made.size(), threads, [&](std::size_t i) { ++made[i]; });
    for (const std::atomic<int>& times : made) CHECK(times == 1);
  }
  for_each_at_once(0, 4, [](std::size_t) { FAIL("there is nothing to do"); });
}

TEST_CASE("calls are made at once, by the caller too") {
  std::latch met(3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for_each_at_once(3, 3, [&](std::size_t) {
    {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    met.arrive_and_wait();  // ends only if three threads are here
  });
  CHECK(seen.size() == 3);
  CHECK(seen.contains(std::this_thread::get_id()));
}

TEST_CASE("signals are left to the caller") {
  std::latch met(2);
  std::atomic<int> open = 0;
  for_each_at_once(2, 2, [&](std::size_t) {
    met.arrive_and_wait();
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    if (sigismember(&mask, SIGTERM) == 0) ++open;
  });
  CHECK(open == 1);
}

TEST_CASE("as many threads as what they hold fits") {
  const std::vector<std::uint64_t> sizes = {40, 30, 20, 10};
  CHECK(threads_within(sizes, 8, 100) == 4);
  CHECK(threads_within(sizes, 8, 99) == 3);
  CHECK(threads_within(sizes, 2, 100) == 2);
  CHECK(threads_within(sizes, 8, 39) == 1);  // then one at a time
  CHECK(threads_within({}, 8, 100) == 1);
  CHECK(threads_within(std::vector<std::uint64_t>(3, ~0ULL), 8, ~0ULL) == 1);
}

TEST_CASE("an exception ends the work and is the caller's") {
  std::atomic<std::size_t> made = 0;
  CHECK_THROWS_AS(for_each_at_once(1'000'000, 2,
                                   [&](std::size_t i) {
                                     ++made;
                                     if (i == 3) throw std::length_error("no more");
                                   }),
                  std::length_error);
  CHECK(made < 1'000'000);
}

TEST_CASE("the affinity mask says how many processors are usable") {
  cpu_set_t former;
  REQUIRE(::sched_getaffinity(0, sizeof former, &former) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (unsigned processor = 0; CPU_COUNT(&one) == 0; ++processor)
    if (CPU_ISSET(processor, &former)) CPU_SET(processor, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(usable_processors() == 1);
  REQUIRE(::sched_setaffinity(0, sizeof former, &former) == 0);
  CHECK(usable_processors() == static_cast<unsigned>(CPU_COUNT(&former)));
}

}  // namespace
}  // namespace axle::system

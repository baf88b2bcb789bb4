#include "builder/job_shares.h"

#include <atomic>
#include <cstddef>
#include <random>

#include <doctest/doctest.h>

#include "foundation/system/parallel.h"

namespace axle::builder {
namespace {

TEST_CASE("builder: the rows at once share the jobs") {
  JobShares shares(3, 20);
  REQUIRE(shares.rows_at_once() == 3);
  const JobShares::Share held[] = {shares.take(), shares.take(), shares.take()};
  for (const auto& one : held) CHECK(one.jobs() == 1);
}

TEST_CASE("builder: jobs beyond the number of rows go to the first of them") {
  JobShares shares(8, 3);
  REQUIRE(shares.rows_at_once() == 3);
  const auto first = shares.take();
  const auto second = shares.take();
  const auto third = shares.take();
  CHECK(first.jobs() == 3);
  CHECK(second.jobs() == 3);
  CHECK(third.jobs() == 2);
}

TEST_CASE("builder: one row has all jobs") {
  JobShares shares(4, 1);
  CHECK(shares.rows_at_once() == 1);
  CHECK(shares.take().jobs() == 4);
}

TEST_CASE("builder: the last row has what nobody else uses") {
  JobShares shares(4, 5);
  {
    const auto one = shares.take();
    const auto two = shares.take();
    const auto three = shares.take();
    const auto four = shares.take();
    CHECK(one.jobs() + two.jobs() + three.jobs() + four.jobs() == 4);
  }
  CHECK(shares.take().jobs() == 4);
}

TEST_CASE("builder: never more jobs than were asked for, and never a row without one") {
  std::mt19937 random(20261130);
  for (int round = 0; round < 200; ++round) {
    const unsigned jobs = 1 + random() % 9;
    const std::size_t rows = 1 + random() % 12;
    JobShares shares(jobs, rows);
    std::atomic<unsigned> used = 0;
    std::atomic<unsigned> most = 0;
    std::atomic<bool> idle = false;
    system::for_each_at_once(rows, shares.rows_at_once(), [&](std::size_t) {
      const auto share = shares.take();
      if (share.jobs() == 0) idle = true;
      const unsigned now = used += share.jobs();
      unsigned seen = most;
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      used -= share.jobs();
    });
    CHECK_FALSE(idle);
    CHECK(most <= jobs);
  }
}

}  // namespace
}  // namespace axle::builder

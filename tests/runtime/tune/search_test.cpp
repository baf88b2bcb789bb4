// The search with a clock of the test's own.
#include "runtime/tune/search.h"

#include <cmath>
#include <functional>

#include <doctest/doctest.h>

namespace axle::runtime {
namespace {

/// The same numbers each time, from 0 to 1.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed * 2 + 88172645463325253U) {}
  double next() {
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<double>(state_ >> 11U) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

struct Run {
  std::size_t winner;
  double gain;
  std::vector<std::size_t> measured;  ///< how often each candidate was
  bool undecided;
};

/// `time(candidate)`, and `quiet()` for each measurement.
Run run(
    std::size_t candidates, std::uint64_t seed, const std::function<double(std::size_t)>& time,
    const std::function<bool()>& quiet = [] { return true; }) {
  Search search(candidates, seed);
  std::vector<std::size_t> measured(candidates);
  for (int i = 0; i < 10000; ++i) {
    const std::optional<std::size_t> next = search.next();
    if (!next) return {search.winner(), search.gain(), measured, search.undecided()};
    ++measured[*next];
    const bool calm = quiet();
    search.record(time(*next), calm);
  }
  FAIL("the search does not end");
  return {};
}

}  // namespace

TEST_CASE("the fastest candidate wins, and its gain is that of the times") {
  const std::vector<double> times{1.0, 1.1, 0.8, 0.9};
  const Run found = run(4, 1, [&](std::size_t i) { return times[i]; });
  CHECK(found.winner == 2);
  CHECK(found.gain == doctest::Approx(1.25));
}

TEST_CASE("the default stays where nothing is 3 % faster") {
  const std::vector<double> times{1.0, 0.98, 0.975, 2.0};
  const Run found = run(4, 2, [&](std::size_t i) { return times[i]; });
  CHECK(found.winner == 0);
  CHECK(found.gain == 1);
  const Run better = run(2, 2, [](std::size_t i) { return i == 0 ? 1.0 : 0.965; });
  CHECK(better.winner == 1);
}

TEST_CASE("one candidate needs no measurement") {
  const Search search(1, 3);
  CHECK_FALSE(search.next().has_value());
  CHECK(search.winner() == 0);
}

TEST_CASE("candidates that are behind drop out, the hopeless after one round") {
  const std::vector<double> times{1.0, 1.3, 2.1, 0.9};
  const Run found = run(4, 4, [&](std::size_t i) { return times[i]; });
  CHECK(found.measured[2] == 1);
  CHECK(found.measured[1] == 2);
  CHECK(found.measured[3] == Search::exploring_rounds + Search::pairs);
  CHECK(found.measured[0] == Search::exploring_rounds + Search::pairs);
}

TEST_CASE("the default is measured on although it is behind") {
  const Run found = run(2, 5, [](std::size_t i) { return i == 0 ? 5.0 : 1.0; });
  CHECK(found.winner == 1);
  CHECK(found.gain == doctest::Approx(5));
}

TEST_CASE("with noise the winner is never slower than the default by more than 1 %") {
  // Times of layers on a shared machine: some percent of noise, now and then a jump.
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Chance chance(seed);
    std::vector<double> times(10);
    for (double& time : times) time = 1 + 0.3 * chance.next();
    times[0] = 1 + 0.1 * chance.next();
    const Run found = run(10, seed, [&](std::size_t i) {
      const double jump = chance.next() < 0.1 ? 1 + chance.next() : 1;
      return times[i] * (1 + 0.05 * chance.next()) * jump;
    });
    CAPTURE(seed);
    CHECK(times[found.winner] <= times[0] * 1.01);
  }
}

TEST_CASE("a machine that changes its pace does not prefer one of two equals") {
  std::size_t changed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Chance chance(seed);
    double phase = 1;
    const Run found = run(8, seed, [&](std::size_t) {
      if (chance.next() < 0.05) phase = 1 + chance.next();
      return phase * (1 + 0.02 * chance.next());
    });
    changed += found.winner != 0 ? 1 : 0;
  }
  CHECK(changed <= 3);
}

TEST_CASE("a large gain is found in noise") {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Chance chance(seed);
    const Run one = run(
        6, seed, [&](std::size_t i) { return (i == 4 ? 0.8 : 1.0) * (1 + 0.05 * chance.next()); });
    found += one.winner == 4 ? 1 : 0;
  }
  CHECK(found >= 98);
}

TEST_CASE("disturbed measurements are repeated, and decide nothing") {
  // Each one that is disturbed says that candidate 1 is twice as fast.
  Chance chance(6);
  bool calm = true;
  const auto quiet = [&] { return calm = chance.next() < 0.7; };
  const Run found = run(2, 6, [&](std::size_t i) { return calm || i == 0 ? 1.0 : 0.5; }, quiet);
  CHECK(found.winner == 0);
}

TEST_CASE("on a machine that is never quiet the search ends with the default") {
  const Run found =
      run(3, 7, [](std::size_t i) { return i == 1 ? 0.5 : 1.0; }, [] { return false; });
  CHECK(found.winner == 0);
  CHECK(found.undecided);
}

TEST_CASE("each round has another order") {
  Search search(8, 8);
  std::vector<std::vector<std::size_t>> orders(4);
  for (std::vector<std::size_t>& order : orders) {
    for (std::size_t i = 0; i < 8; ++i) {
      order.push_back(*search.next());
      search.record(1, true);
    }
  }
  CHECK(orders[0] != orders[1]);
  CHECK(orders[1] != orders[2]);
  CHECK(orders[2] != orders[3]);
}

TEST_CASE("the median of an even number of values is between the two in the middle") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 3}) == 2.5);
  CHECK(median({7}) == 7);
}

}  // namespace axle::runtime

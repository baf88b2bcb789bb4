#include "cli/views/pace.h"

#include <doctest/doctest.h>

using axle::cli::Pace;
using axle::cli::render_duration;

TEST_CASE("speed and time left follow from what was seen and not from what was there before") {
  Pace pace;
  CHECK(pace.note("downloading a.whl", 1'000'000, 11'000'000, 5'000).empty());
  CHECK(pace.note("downloading a.whl", 1'100'000, 11'000'000, 5'100).empty());  // too early to say
  CHECK(pace.note("downloading a.whl", 3'000'000, 11'000'000, 6'000) == ", 2.00 MB/s, 4 s left");
  CHECK(pace.note("downloading a.whl", 11'000'000, 11'000'000, 10'000) == ", 2.00 MB/s");
}

TEST_CASE("without a total there is no time left and without progress no speed") {
  Pace pace;
  CHECK(pace.note("downloading a.whl", 0, 0, 0).empty());
  CHECK(pace.note("downloading a.whl", 0, 0, 9'000).empty());
  CHECK(pace.note("downloading a.whl", 4'000, 0, 10'000) == ", 400 B/s");
}

TEST_CASE(
    "pieces of work that run at once have their own pace and one that goes back begins again") {
  Pace pace;
  CHECK(pace.note("[1/2] downloading a.whl", 0, 1'000, 0).empty());
  CHECK(pace.note("[1/2] downloading b.whl", 0, 8'000, 0).empty());
  CHECK(pace.note("[1/2] downloading a.whl", 500, 1'000, 1'000) == ", 500 B/s, 1 s left");
  CHECK(pace.note("[2/2] downloading b.whl", 4'000, 8'000, 1'000) == ", 4.00 kB/s, 1 s left");
  CHECK(pace.note("[2/2] unpacking b.whl", 100, 8'000, 1'100).empty());
}

TEST_CASE("durations as a reader says them") {
  CHECK(render_duration(0) == "0 s");
  CHECK(render_duration(59) == "59 s");
  CHECK(render_duration(185) == "3 min 5 s");
  CHECK(render_duration(4'800) == "1 h 20 min");
}

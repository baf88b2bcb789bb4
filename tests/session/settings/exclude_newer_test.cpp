#include "session/settings/exclude_newer.h"

#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using axle::session::parse_cutoff;

namespace {

/// 2026-11-22T08:00:00Z
constexpr std::chrono::sys_seconds now{std::chrono::seconds(1795334400)};

}  // namespace

TEST_CASE("a cutoff is a time, a date or a duration, as uv and pip write them") {
  setenv("TZ", "UTC", 1);
  tzset();
  const std::pair<const char*, const char*> times[] = {
      {"2024-01-01T00:00:00Z", "2024-01-01T00:00:00.000000Z"},
      {"2024-01-01T00:00:00.123456789Z", "2024-01-01T00:00:00.123456Z"},
      {"2024-01-01T00:00:00+02:00", "2023-12-31T22:00:00.000000Z"},
      {"2024-01-01 05:06:07-05:30", "2024-01-01T10:36:07.000000Z"},
      {"2024-01-01T00Z", "2024-01-01T00:00:00.000000Z"},
      {"2024-01-01T12:00:00", "2024-01-01T12:00:00.000000Z"},
      {"2024-02-28", "2024-02-29T00:00:00.000000Z"},
      {"20240101", "2024-01-02T00:00:00.000000Z"},
      {"3 days", "2026-11-19T08:00:00.000000Z"},
      {"3 days ago", "2026-11-19T08:00:00.000000Z"},
      {"1d12h", "2026-11-20T20:00:00.000000Z"},
      {"1 day, 2 hours", "2026-11-21T06:00:00.000000Z"},
      {"1.5 hours", "2026-11-22T06:30:00.000000Z"},
      {"2w", "2026-11-08T08:00:00.000000Z"},
      {"0 days", "2026-11-22T08:00:00.000000Z"},
      {"P3D", "2026-11-19T08:00:00.000000Z"},
      {"p1w", "2026-11-15T08:00:00.000000Z"},
      {"PT1M", "2026-11-22T07:59:00.000000Z"},
      {"P1DT1H1M1S", "2026-11-21T06:58:59.000000Z"},
  };
  for (const auto& [text, time] : times) {
    INFO(std::string(text));
    const auto parsed = axle::session::parse_cutoff(text, now);
    REQUIRE(parsed);
    CHECK(*parsed == time);
  }
}

TEST_CASE("a date ends with its day in the time zone of the system") {
  setenv("TZ", "Asia/Tokyo", 1);
  tzset();
  CHECK(axle::session::parse_cutoff("2024-01-01", now).value() == "2024-01-01T15:00:00.000000Z");
  CHECK(axle::session::parse_cutoff("2024-01-01T09:00:00", now).value() ==
        "2024-01-01T00:00:00.000000Z");
  setenv("TZ", "UTC", 1);
  tzset();
}

TEST_CASE("what is not a cutoff is refused, with what one looks like") {
  for (const char* text : {"",
                           "tomorrow",
                           "365",
                           "2024-13-01",
                           "2024-02-30",
                           "2024-01-01T",
                           "2024-01-01T25:00:00Z",
                           "1 month",
                           "P1M",
                           "1y",
                           "3 fortnights",
                           "1.5 days",
                           "-3 days",
                           "P",
                           "P-3D",
                           "PT",
                           "99999999999 days",
                           "999999999999999999999 days",
                           "days",
                           "2024-01-01T00:00:00Zx"}) {
    INFO(std::string(text));
    const auto parsed = axle::session::parse_cutoff(text, now);
    REQUIRE_FALSE(parsed);
    CHECK_FALSE(parsed.error().hint.empty());
  }
}

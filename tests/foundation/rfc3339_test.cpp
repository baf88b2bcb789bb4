#include "foundation/text/rfc3339.h"

#include <doctest/doctest.h>

using namespace axle;
using text::parse_rfc3339;

TEST_CASE("upload times are read to the microsecond") {
  CHECK(parse_rfc3339("1970-01-01T00:00:00Z") == 0);
  CHECK(parse_rfc3339("1970-01-01T00:00:00.000001Z") == 1);
  CHECK(parse_rfc3339("1970-01-02T00:00:01.5Z") == 86'401'500'000);
  CHECK(parse_rfc3339("2024-06-01T12:00:00.123456Z") == 1'717'243'200'123'456);
  CHECK(parse_rfc3339("2024-06-01T14:00:00.123456789+02:00") == 1'717'243'200'123'456);
  CHECK(parse_rfc3339("2024-06-01t10:30:00.123456-01:30") == 1'717'243'200'123'456);
  CHECK(parse_rfc3339("2024-02-29T00:00:00Z"));
}

TEST_CASE("what is not a time is none") {
  for (const char* text : {"", "2024", "2024-06-01", "2024-06-01T12:00:00", "2024-06-01T12:00Z",
                           "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-06-01T24:00:00Z",
                           "2024-06-01T12:61:00Z", "2024-06-01T12:00:00.Z", "2024-06-01T12:00:00Zx",
                           "2024-06-01T12:00:00+2:00", "yesterday", "-024-06-01T12:00:00Z",
                           "2024-06-01T12:00:00+24:00", "2024-+6-01T12:00:00Z"}) {
    CHECK_FALSE_MESSAGE(parse_rfc3339(text).has_value(), text);
  }
}

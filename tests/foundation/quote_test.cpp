#include "foundation/text/quote.h"

#include <string>

#include <doctest/doctest.h>

#include "foundation/text/utf8.h"

using axle::text::quote;

TEST_CASE("hostile text is escaped and cut in messages") {
  CHECK(axle::text::quote("plain") == "\"plain\"");
  CHECK(axle::text::quote("a\"b\\c\n\x1b[31m") == "\"a\\\"b\\\\c\\x0a\\x1b[31m\"");
  CHECK(axle::text::quote("\xFF\xFE") == "\"\\xff\\xfe\"");
  CHECK(axle::text::quote("ü") == "\"ü\"");
  CHECK(axle::text::quote(std::string(81, 'x')) == "\"" + std::string(80, 'x') + "\"…");
}

TEST_CASE("the cut leaves no half of a character") {
  const std::string quoted = axle::text::quote(std::string(79, 'x') + "üü");
  CHECK(quoted == "\"" + std::string(79, 'x') + "\"…");
  CHECK(axle::text::is_valid_utf8(quoted));
}

TEST_CASE("bytes that are no UTF-8 are replaced one by one") {
  CHECK(axle::text::repair_utf8("a\xC3\xBC\xFFz\xE2\x82") ==
        "a\xC3\xBC\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
}

#include "wheel/quote.h"

#include <string>

#include <doctest/doctest.h>

#include "wheel/utf8.h"

using axle::wheel::quote;

TEST_CASE("hostile text is escaped and cut in messages") {
  CHECK(quote("plain") == "\"plain\"");
  CHECK(quote("a\"b\\c\n\x1b[31m") == "\"a\\\"b\\\\c\\x0a\\x1b[31m\"");
  CHECK(quote("\xFF\xFE") == "\"\\xff\\xfe\"");
  CHECK(quote("ü") == "\"ü\"");
  CHECK(quote(std::string(81, 'x')) == "\"" + std::string(80, 'x') + "\"…");
}

TEST_CASE("the cut leaves no half of a character") {
  const std::string quoted = quote(std::string(79, 'x') + "üü");
  CHECK(quoted == "\"" + std::string(79, 'x') + "\"…");
  CHECK(axle::wheel::is_valid_utf8(quoted));
}

TEST_CASE("bytes that are no UTF-8 are mended one by one") {
  CHECK(axle::wheel::mend_utf8("a\xC3\xBC\xFFz\xE2\x82") ==
        "a\xC3\xBC\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
}

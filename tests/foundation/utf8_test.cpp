#include "foundation/text/utf8.h"

#include <doctest/doctest.h>

using axle::text::first_code_point;
using axle::text::is_valid_utf8;
using axle::text::repair_utf8;

TEST_CASE("the first and last character of every length") {
  struct Row {
    const char* text;
    char32_t code;
    std::size_t length;
  };
  for (const auto& [text, code, length] :
       {Row{"a", U'a', 1}, Row{"\x7f", 0x7f, 1}, Row{"\xc2\x80", 0x80, 2},
        Row{"\xdf\xbf", 0x7ff, 2}, Row{"\xe0\xa0\x80", 0x800, 3}, Row{"\xed\x9f\xbf", 0xd7ff, 3},
        Row{"\xee\x80\x80", 0xe000, 3}, Row{"\xef\xbf\xbf", 0xffff, 3},
        Row{"\xf0\x90\x80\x80", 0x10000, 4}, Row{"\xf4\x8f\xbf\xbf", 0x10ffff, 4}}) {
    CAPTURE(static_cast<unsigned>(code));
    CHECK(first_code_point(text).code == code);
    CHECK(first_code_point(text).length == length);
    CHECK(is_valid_utf8(text));
    CHECK(repair_utf8(text) == text);
  }
}

TEST_CASE("overlong forms, surrogates, what is beyond Unicode and what is cut are none") {
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2",
        "\xc2"
        "a",
        "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    CAPTURE(text);
    CHECK(first_code_point(text).length == 0);
    CHECK_FALSE(is_valid_utf8(text));
  }
  CHECK(repair_utf8("a\xff"
                    "b") ==
        "a\xef\xbf\xbd"
        "b");
}

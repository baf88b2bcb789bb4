#include "foundation/text/printable.h"

#include <array>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using axle::text::printable;
using axle::text::printable_json;

TEST_CASE("what steers a terminal or deceives its reader is shown instead") {
  CHECK(axle::text::printable("a\x1b[2Jb\r\x7f\x07") == "a\\x1b[2Jb\\x0d\\x7f\\x07");
  CHECK(axle::text::printable("\xc2\x9b"
                              "2J") ==
        "\\x9b"
        "2J");  // CSI as a C1 control
  CHECK(axle::text::printable("\x9b"
                              "2J\xff") ==
        "\\x9b"
        "2J\\xff");  // and as a bare byte
  CHECK(axle::text::printable("x\xe2\x80\xae"
                              "gpj.exe") == "x\\u202egpj.exe");
  CHECK(axle::text::printable("\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c\xe2\x80\x8f") ==
        "\\u2066\\u2069\\u061c\\u200f");
  CHECK(axle::text::printable("a\xe2\x80\xa8"
                              "b\xe2\x80\x8b\xef\xbb\xbf") == "a\\u2028b\\u200b\\ufeff");
  CHECK(axle::text::printable("\xf3\xa0\x81\x81") == "\\ue0041");  // a tag character
}

TEST_CASE("text in any script stays as it is") {
  const std::string text = "Grüße, Привет, 你好, שלום, 😀, e\xcc\x81\n\ttab";
  CHECK(axle::text::printable(text) == text);
  CHECK(axle::text::printable_json("\"" + text + "\"") == "\"" + text + "\"");
}

TEST_CASE("bytes that are not UTF-8 are shown one by one") {
  CHECK(axle::text::printable("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(axle::text::printable("\xe2\x80") == "\\xe2\\x80");                    // cut off
  CHECK(axle::text::printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(axle::text::printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // past U+10FFFF
}

TEST_CASE("our own sequences may stay, others not") {
  const std::array<std::string_view, 1> kept = {"\033[0m"};
  CHECK(axle::text::printable("\033[0m\033[1m", kept) == "\033[0m\\x1b[1m");
}

TEST_CASE("JSON means the same afterwards") {
  const std::string hostile = "a\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81\xe2\x80\xa8z";
  const std::string json = nlohmann::json{{"name", hostile}}.dump();
  const std::string shown = axle::text::printable_json(json);
  for (const char c : shown)
    CHECK((static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f));
  CHECK(nlohmann::json::parse(shown)["name"] == hostile);
}

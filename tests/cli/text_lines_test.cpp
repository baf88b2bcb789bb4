#include "cli/views/text_lines.h"

#include <doctest/doctest.h>

namespace axle::cli {
namespace {

TEST_CASE("wrapped text: lines end before column 80 and go on below the first") {
  CHECK(wrap_text("", 12).empty());
  CHECK(wrap_text("one two", 12) == "one two");
  const std::string word(30, 'w');
  CHECK(wrap_text(word + " " + word + " " + word, 4) == word + " " + word + "\n    " + word);
  CHECK(wrap_text(std::string(76, 'w'), 4) == std::string(76, 'w'));
  CHECK(wrap_text(std::string(40, 'w') + " " + std::string(35, 'v'), 4).find('\n') ==
        std::string::npos);
  CHECK(wrap_text(std::string(40, 'w') + " " + std::string(36, 'v'), 4).contains('\n'));
}

TEST_CASE("wrapped text: a word longer than a line stays whole, letters of several bytes are one") {
  const std::string path(100, 'p');
  CHECK(wrap_text("at " + path + " now", 4) == "at\n    " + path + "\n    now");
  std::string umlauts;
  for (int i = 0; i < 70; ++i) umlauts += "ü";
  CHECK(wrap_text("a " + umlauts, 4) == "a " + umlauts);
}

}  // namespace
}  // namespace axle::cli

#include "runtime/tokenizer/vocabulary.h"

#include <doctest/doctest.h>

namespace {

using namespace axle::runtime;
using Added = Vocabulary::Added;

TEST_CASE("vocabulary: texts by ids, ids by texts") {
  Vocabulary vocabulary(3);
  CHECK(vocabulary.add(2, "two") == Added::yes);
  CHECK(vocabulary.add(0, "zero") == Added::yes);
  CHECK(vocabulary.add(2, "two") == Added::yes);
  CHECK(vocabulary.add(2, "other") == Added::taken);
  CHECK(vocabulary.add(3, "two") == Added::yes);  // the first of a text is found
  CHECK(vocabulary.find("two") == 2);
  CHECK(vocabulary.find("other") == Vocabulary::none);
  CHECK(vocabulary.text(3) == "two");
  CHECK(vocabulary.text(1).empty());
  CHECK(vocabulary.text(-1).empty());
  CHECK(vocabulary.text(4).empty());
  CHECK(vocabulary.size() == 4);
  CHECK(vocabulary.longest() == 4);
}

TEST_CASE("vocabulary: grows beyond what was expected") {
  Vocabulary vocabulary;
  for (int i = 0; i < 5000; ++i)
    CHECK(vocabulary.add(i, "a long token's text, number " + std::to_string(i)) == Added::yes);
  for (int i = 0; i < 5000; ++i)
    CHECK(vocabulary.find("a long token's text, number " + std::to_string(i)) == i);
  CHECK(vocabulary.find("") == Vocabulary::none);
}

TEST_CASE("vocabulary: ids out of proportion are refused") {
  Vocabulary vocabulary(10);
  CHECK(vocabulary.add(-1, "a") == Added::too_high);
  CHECK(vocabulary.add(1'000'000, "a") == Added::too_high);
  CHECK(vocabulary.size() == 0);
}

}  // namespace

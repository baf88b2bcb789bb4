#include "foundation/text/nearest.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using axle::text::did_you_mean;
using axle::text::likely_meant;
using axle::text::nearest_words;
using axle::text::suggest;

using Words = std::vector<std::string>;

TEST_CASE(
    "the nearest words: few edits first, then those that begin alike, then in the given order") {
  CHECK(nearest_words("l40", {"m40", "h100", "l40s", "a40"}) == "l40s, m40, a40");
  CHECK(nearest_words("x", {}).empty());
  CHECK(nearest_words("", {"bb", "a"}) == "a, bb");
}

TEST_CASE("a slip is one edit in three letters") {
  const Words commands = {"detect", "install", "uninstall", "list", "freeze", "check"};
  CHECK(likely_meant("instal", commands) == Words{"install", "uninstall"});
  CHECK(likely_meant("isntall", commands).front() == "install");  // two neighbours swapped
  CHECK(likely_meant("lsit", commands) == Words{"list"});
  CHECK(likely_meant("nosuch", commands).empty());
  CHECK(likely_meant("", commands).empty());
  CHECK(likely_meant("ab", {"ac"}).empty());  // half of it
}

TEST_CASE("a swap of neighbours is one edit and a letter is edited once") {
  CHECK(likely_meant("acb", {"abc"}) == Words{"abc"});
  CHECK(likely_meant("cab", {"abc"}).empty());  // two edits in three letters
}

TEST_CASE("capitals and separators do not count and then nothing else is meant") {
  const Words machines = {"h100", "h200", "rtx4090", "rtx4060", "gtx1080ti"};
  CHECK(likely_meant("H100", machines) == Words{"h100"});
  CHECK(likely_meant("RTX 4090", machines) == Words{"rtx4090"});
  CHECK(likely_meant("GTX-1080_Ti", machines) == Words{"gtx1080ti"});
  CHECK(likely_meant("rtx4080", machines) == Words{"rtx4090", "rtx4060"});
}

TEST_CASE("at most three are named and none twice") {
  CHECK(likely_meant("aaaa", {"aaab", "aaac", "aaad", "aaae"}).size() == 3);
  CHECK(likely_meant("aaaa", {"aaab", "aaab"}) == Words{"aaab"});
}

TEST_CASE("a long word of somebody else costs no time") {
  const std::string hostile(1U << 20, 'a');
  CHECK(likely_meant(hostile, {hostile, "a"}) == Words{hostile});
}

TEST_CASE("the sentence") {
  CHECK(did_you_mean("tset", {"test"}) == "did you mean test?");
  CHECK(did_you_mean("tes", {"test", "tess"}) == "did you mean test or tess?");
  CHECK(did_you_mean("tes", {"test", "tess", "tesk"}) == "did you mean test, tess or tesk?");
  CHECK(did_you_mean("other", {"test"}).empty());
  CHECK(suggest("tset", {"test"}, "see there") == "did you mean test? see there");
  CHECK(suggest("tset", {"test"}, "") == "did you mean test?");
  CHECK(suggest("other", {"test"}, "see there") == "see there");
}

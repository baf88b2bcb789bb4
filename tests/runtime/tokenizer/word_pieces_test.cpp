#include "runtime/tokenizer/word_pieces.h"

#include <doctest/doctest.h>

#include "tests/runtime/tokenizer/made_tokenizer.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

std::string bert(const std::string& normalizer = R"({"type":"BertNormalizer"})",
                 const std::string& extras = "") {
  return R"({"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,
    "un":3,"##aff":4,"##able":5,"!":6,"cafe":7,"##'":8,"Caf\u00e9":9,"\u6771":10,"'":11,"s":12})" +
         extras + R"(},"normalizer":)" + normalizer +
         R"(,"pre_tokenizer":{"type":"BertPreTokenizer"},
    "post_processor":{"type":"BertProcessing","cls":["[CLS]",1],"sep":["[SEP]",2]},
    "added_tokens":[{"id":0,"content":"[UNK]","special":true},{"id":1,"content":"[CLS]","special":true},
      {"id":2,"content":"[SEP]","special":true}]})";
}

TEST_CASE("word pieces: the longest pieces from the left") {
  const Tokenizer tokenizer = opened(bert());
  CHECK(encoded(tokenizer, "Unaffable!", false, true) == Tokens{1, 3, 4, 5, 6, 2});
  CHECK(encoded(tokenizer, "unaffx un") == Tokens{0, 3});
  CHECK(encoded(tokenizer, "[SEP]", true) == Tokens{2});
  CHECK(encoded(tokenizer, "un\xe6\x9d\xb1un") == Tokens{3, 10, 3});
  CHECK(encoded(tokenizer, " \t\n").empty());
  CHECK(tokenizer.unknown() == 0);
}

TEST_CASE("word pieces: case, accents and controls") {
  CHECK(encoded(opened(bert()),
                "CAF\xc3\x89 caf\x01"
                "e\xcc\x81") == Tokens{7, 7});
  const std::string kept = R"({"type":"BertNormalizer","lowercase":false,"strip_accents":null})";
  CHECK(encoded(opened(bert(kept)), "Caf\xc3\xa9") == Tokens{9});
  BertCleaning cleaning;
  CHECK(clean("A\x0b\tB\xe2\x80\x8b\xc2\x85\xc2\xa0", cleaning) == "a b ");
  CHECK(clean("\xc4\xb0", cleaning) == "i");
  cleaning.clean_text = false;
  CHECK(clean("A\tB\x01", cleaning) == "a\tb\x01");
}

TEST_CASE("word pieces: long words are unknown") {
  const std::string shorter = R"(,"max_input_chars_per_word":8)";
  const Tokenizer tokenizer = opened(bert(R"({"type":"BertNormalizer"})", shorter));
  CHECK(encoded(tokenizer, "unaffable") == Tokens{0});
  CHECK(encoded(tokenizer, "unable") == Tokens{3, 5});
}

TEST_CASE("word pieces: as text") {
  const Tokenizer tokenizer = opened(bert());
  CHECK(tokenizer.decode(Tokens{1, 3, 4, 5, 6, 7, 2}, false) == "unaffable! cafe");
  CHECK(tokenizer.decode(Tokens{7, 11, 12}, true) == "cafe ' s");
  TextStream stream(tokenizer);
  CHECK(stream.add(1).empty());
  CHECK(stream.add(7) == "cafe");
  CHECK(stream.add(7) == " cafe");
}

}  // namespace

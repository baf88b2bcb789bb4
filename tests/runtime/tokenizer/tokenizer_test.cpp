#include "runtime/tokenizer/tokenizer.h"

#include <doctest/doctest.h>

#include "tests/runtime/tokenizer/made_tokenizer.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

TEST_CASE("tokenizer: merges by rank, the leftmost first") {
  const Tokenizer tokenizer = opened(MadeJson().text());
  CHECK(encoded(tokenizer, "abc abc") == Tokens{5, 12});
  CHECK(encoded(tokenizer, "bca") == Tokens{1, 2, 0});  // no merge makes "bc"
  CHECK(encoded(tokenizer, "\xc3\xa9") == Tokens{10});
  // Bytes without a token are left out.
  CHECK(encoded(tokenizer, "axb") == Tokens{4});
  CHECK(encoded(tokenizer, "").empty());
}

TEST_CASE("tokenizer: long words are merged as short ones are, and in time") {
  const Tokenizer tokenizer = opened(MadeJson().text());
  std::string text;
  Tokens wanted;
  for (int i = 0; i < 100'000; ++i) {
    text += i % 3 == 0 ? "abc" : i % 3 == 1 ? "ab" : "b";
    wanted.push_back(i % 3 == 0 ? 5 : i % 3 == 1 ? 4 : 1);
  }
  CHECK(encoded(tokenizer, text) == wanted);
  CHECK(encoded(tokenizer, text.substr(0, 36)).size() == 18);
}

TEST_CASE("tokenizer: words that are tokens are taken whole where the model says so") {
  MadeJson made;
  made.model_extras = R"(,"ignore_merges":true)";
  CHECK(encoded(opened(made.text()), "bc") == Tokens{11});
  CHECK(encoded(opened(MadeJson().text()), "bc") == Tokens{1, 2});
}

TEST_CASE("tokenizer: unknown bytes become the unknown token") {
  MadeJson made;
  made.model_extras = R"(,"unk_token":"c")";
  CHECK(encoded(opened(made.text()), "axyb") == Tokens{0, 2, 2, 1});
  made.model_extras += R"(,"fuse_unk":true)";
  CHECK(encoded(opened(made.text()), "axyb") == Tokens{0, 2, 1});
}

TEST_CASE("tokenizer: control tokens count only where the caller says so") {
  MadeJson made;
  made.added += R"(,{"id":21,"content":"<|end|>abc","special":true})";
  const Tokenizer tokenizer = opened(made.text());
  CHECK(encoded(tokenizer, "a<|end|>b", true) == Tokens{0, 20, 1});
  CHECK(encoded(tokenizer, "a<|end|>abcb", true) == Tokens{0, 21, 1});
  CHECK(encoded(tokenizer, "a<|end|>b") == Tokens{0, 1});
  // What a template writes counts, what a user writes between does not; the text of both is one.
  const Tokenizer::Piece pieces[] = {{"<|end|>a", true}, {"b<|end|>c", false}, {"<|end|>", true}};
  CHECK(*tokenizer.encode(pieces, false) == Tokens{20, 4, 2, 20});
  CHECK(tokenizer.is_special(20));
  CHECK_FALSE(tokenizer.is_special(0));
  CHECK_FALSE(tokenizer.is_special(-1));
  CHECK_FALSE(tokenizer.is_special(1000));
}

TEST_CASE("tokenizer: a control token of the vocabulary is not made by merges or whole words") {
  MadeJson made;
  made.added = R"({"id":11,"content":"bc","special":true})";
  made.model_extras = R"(,"ignore_merges":true)";
  CHECK(encoded(opened(made.text()), "bc") == Tokens{1, 2});
  CHECK(encoded(opened(made.text()), "bc", true) == Tokens{11});
}

TEST_CASE("tokenizer: how added tokens take white space along, and where words end") {
  MadeJson made;
  made.added =
      R"({"id":20,"content":"L","lstrip":true,"normalized":false},
         {"id":21,"content":"R","rstrip":true,"normalized":false},
         {"id":22,"content":"W","single_word":true,"normalized":false})";
  const Tokenizer tokenizer = opened(made.text());
  CHECK(encoded(tokenizer, "a \n Lb") == Tokens{0, 20, 1});
  CHECK(encoded(tokenizer, "aR \t b") == Tokens{0, 21, 1});
  CHECK(encoded(tokenizer, "aR Lb") == Tokens{0, 21, 20, 1});
  CHECK(encoded(tokenizer, "a W") == Tokens{0, 3, 22});
  CHECK(encoded(tokenizer, "aWb") == Tokens{4});
}

TEST_CASE("tokenizer: normal form C, and added tokens found in it") {
  MadeJson made;
  made.normalizer = R"({"type":"Sequence","normalizers":[{"type":"NFC"}]})";
  made.added = R"({"id":20,"content":"e\u0301!","normalized":true})";
  const Tokenizer tokenizer = opened(made.text());
  CHECK(encoded(tokenizer, "e\xcc\x81") == Tokens{10});
  CHECK(encoded(tokenizer, "a\xc3\xa9!b") == Tokens{0, 20, 1});
}

TEST_CASE("tokenizer: tokens around a text") {
  MadeJson made;
  made.post_processor = R"({"type":"Sequence","processors":[{"type":"ByteLevel"},
    {"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<|end|>"}},{"Sequence":{"id":"A"}},
     {"SpecialToken":{"id":"<|end|>"}}],"special_tokens":{"<|end|>":{"ids":[20]}}}]})";
  CHECK(encoded(opened(made.text()), "a", false, true) == Tokens{20, 0, 20});
  CHECK(encoded(opened(made.text()), "a", false, false) == Tokens{0});
}

TEST_CASE("tokenizer: bytes that are not UTF-8 count as U+FFFD") {
  MadeJson made;
  made.vocabulary += R"(,"ï":13,"¿":14,"½":15)";
  const Tokenizer tokenizer = opened(made.text());
  CHECK(encoded(tokenizer, "a\xff") == encoded(tokenizer, "a\xef\xbf\xbd"));
  CHECK(encoded(tokenizer, "a\xff") == Tokens{0, 13, 14, 15});
}

TEST_CASE("tokenizer: a text that is too long is refused") {
  const Tokenizer tokenizer = opened(MadeJson().text());
  const std::string half(Tokenizer::most_bytes / 2 + 1, '<');
  const Tokenizer::Piece pieces[] = {{half, true}, {half, true}};
  const auto tokens = tokenizer.encode(pieces, false);
  REQUIRE_FALSE(tokens);
  CHECK(tokens.error().status == AXLE_BAD_ARGUMENT);
}

TEST_CASE("tokenizer: tokens by their texts") {
  const Tokenizer tokenizer = opened(MadeJson().text());
  CHECK(tokenizer.size() == 21);
  CHECK(tokenizer.find("<|end|>") == 20);
  CHECK(tokenizer.find(" ab") == 6);
  CHECK_FALSE(tokenizer.find("none"));
}

}  // namespace

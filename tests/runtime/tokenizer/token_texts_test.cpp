#include <doctest/doctest.h>

#include "tests/runtime/tokenizer/made_tokenizer.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

const std::string space = "\xe2\x96\x81";

/// SentencePiece's: spaces made visible, characters without a token as bytes.
std::string sentence_piece(const std::string& pre_tokenizer, const std::string& normalizer,
                           const std::string& decoder) {
  return R"({"model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>","fuse_unk":true,"vocab":{
      "<unk>":0,"<0xC3>":1,"<0xA9>":2,")" +
         space + R"(":3,"a":4,"b":5,"ab":6,")" + space + R"(ab":7},"merges":["a b",")" + space +
         R"( ab"]},"pre_tokenizer":)" + pre_tokenizer + R"(,"normalizer":)" + normalizer +
         R"(,"decoder":)" + decoder +
         R"(,"added_tokens":[{"id":0,"content":"<unk>","special":true}]})";
}

TEST_CASE("token texts: bytes become characters when they are whole") {
  const Tokenizer tokenizer = opened(MadeJson().text());
  CHECK(tokenizer.decode(Tokens{8, 9, 20, 0, 99, -1}, false) ==
        "\xc3\xa9"
        "a");
  CHECK(tokenizer.decode(Tokens{0, 20}, true) == "a<|end|>");
  CHECK(tokenizer.decode(Tokens{0, 8, 0}, true) ==
        "a\xef\xbf\xbd"
        "a");
  TextStream stream(tokenizer);
  CHECK(stream.add(0) == "a");
  CHECK(stream.add(20).empty());
  CHECK(stream.add(8).empty());
  CHECK(stream.add(9) == "\xc3\xa9");
  CHECK(stream.add(8).empty());
  CHECK(stream.add(0) ==
        "\xef\xbf\xbd"
        "a");
  CHECK(stream.add(8).empty());
  CHECK(stream.finish() == "\xef\xbf\xbd");
  CHECK(stream.finish().empty());
}

TEST_CASE("token texts: SentencePiece's spaces, put before each text by a normalizer") {
  const Tokenizer tokenizer = opened(sentence_piece(
      "null",
      R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":")" + space +
          R"("},{"type":"Replace","pattern":{"String":" "},"content":")" + space + R"("}]})",
      R"({"type":"Sequence","decoders":[{"type":"Replace"},{"type":"ByteFallback"},{"type":"Fuse"},
          {"type":"Strip","content":" ","start":1,"stop":0}]})"));
  CHECK(encoded(tokenizer, "ab ab") == Tokens{7, 7});
  CHECK(encoded(tokenizer, " ab") == Tokens{3, 7});
  CHECK(encoded(tokenizer, "\xc3\xa9") == Tokens{3, 1, 2});
  CHECK(encoded(tokenizer, "\xe6\x9d\xb1\xe6\x9d\xb1") == Tokens{3, 0});
  CHECK(encoded(tokenizer, "ab<unk>ab", true) == Tokens{7, 0, 7});
  CHECK(tokenizer.decode(Tokens{7, 7, 1, 2}, true) == "ab ab\xc3\xa9");
  TextStream stream(tokenizer);
  CHECK(stream.add(7) == "ab");
  CHECK(stream.add(7) == " ab");
  CHECK(stream.add(1).empty());
  CHECK(stream.add(2) == "\xc3\xa9");
}

TEST_CASE("token texts: SentencePiece's spaces, put before the first text only") {
  const std::string split =
      R"({"type":"Metaspace","replacement":")" + space + R"(","prepend_scheme":)";
  const Tokenizer first = opened(sentence_piece(split + R"("first"})", "null", "null"));
  CHECK(encoded(first, "ab<unk>ab", true) == Tokens{7, 0, 6});
  CHECK(encoded(first, " ab") == Tokens{7});
  const Tokenizer never = opened(sentence_piece(split + R"("never"})", "null", "null"));
  CHECK(encoded(never, "ab ab") == Tokens{6, 7});
  CHECK(never.decode(Tokens{7, 7}, true) == " ab ab");
}

}  // namespace

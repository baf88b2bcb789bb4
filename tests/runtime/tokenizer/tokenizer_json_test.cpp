#include <doctest/doctest.h>

#include "tests/runtime/tokenizer/made_tokenizer.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

struct Refused {
  const char* from;
  const char* to;
  const char* message;  ///< a part of it
  axle_status status = AXLE_MALFORMED;
};

constexpr Refused refused[] = {
    {R"("BPE")", R"("Unigram")", "model is of type \"Unigram\"", AXLE_UNSUPPORTED},
    {R"("BPE")", "7", "model.type is not a text"},
    {R"("BPE")", R"("BPE","dropout":0.1)", "model.dropout is not 0", AXLE_UNSUPPORTED},
    {R"("BPE")", R"("BPE","end_of_word_suffix":"</w>")", "model.end_of_word_suffix",
     AXLE_UNSUPPORTED},
    {R"("BPE")", R"("BPE","unk_token":"zz")", "model.unk_token is no token"},
    {R"("BPE")", R"("BPE","ignore_merges":1)", "model.ignore_merges is neither true nor false"},
    {R"("a":0)", R"("a":-1)", "model.vocab[\"a\"] is not the id of a token"},
    {R"("a":0)", R"("a":0.5)", "model.vocab[\"a\"] is not the id of a token"},
    {R"("a":0)", R"("a":1)", "has the id of another token"},
    {R"("a":0)", R"("a":20)", "is also the added token \"<|end|>\""},
    {R"("a":0)", R"("a":2000000000)", "out of all proportion"},
    {R"("vocab":{)", R"("vocab":[],"old":{)", "model.vocab is not an object"},
    {R"("merges":[)", R"("merges":7,"old":[)", "model.merges is not a list"},
    {R"("ab c")", R"("abc")", "model.merges[2] has no space"},
    {R"("ab c")", R"(["ab"])", "model.merges[2] is not a pair of tokens"},
    {R"("ab c")", R"("ab zz")", "merge 2, \"ab\" and \"zz\""},
    {R"("type":"ByteLevel")", R"("type":"Whitespace")",
     "pre_tokenizer is the pre-tokenizer \"Whitespace\"", AXLE_UNSUPPORTED},
    {R"({"type":"ByteLevel")", R"({"type":"Split","pattern":{"Regex":"x+"},"behavior":"Isolated")",
     "pre_tokenizer.pattern is the regular expression \"x+\"", AXLE_UNSUPPORTED},
    {R"("type":"ByteLevel")", R"("type":"Digits")", "Digits in groups", AXLE_UNSUPPORTED},
    {R"("add_prefix_space":false)", R"("add_prefix_space":"no")",
     "pre_tokenizer.add_prefix_space is neither true nor false"},
    {R"("normalizer":null)", R"("normalizer":{"type":"Lowercase"})",
     "normalizer is the normalizer \"Lowercase\"", AXLE_UNSUPPORTED},
    {R"("post_processor":null)", R"("post_processor":{"type":"Other"})",
     "post_processor is the post-processor \"Other\"", AXLE_UNSUPPORTED},
    {R"("post_processor":null)",
     R"("post_processor":{"type":"BertProcessing","cls":["a",77],"sep":["b",1]})",
     "post_processor.cls[1] is the id of no token"},
    {R"("post_processor":null)", R"("post_processor":{"type":"BertProcessing","cls":7})",
     "post_processor.cls is not a token and its id"},
    {R"("post_processor":null)",
     R"("post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}]})",
     "post_processor.special_tokens.x.ids is not a list"},
    {R"("id":20,)", "", "added_tokens[0].id is not the id of a token"},
    {R"("content":"<|end|>",)", "", "added_tokens[0].content is not a text"},
    {R"("special":true,)", R"("special":null,"lstrip":"x",)", "added_tokens[0].lstrip"},
};

TEST_CASE("tokenizer.json: what is wrong is said with its place") {
  for (const Refused& one : refused) {
    CAPTURE(one.message);
    const std::string file = MadeJson().text();
    const auto tokenizer = Tokenizer::parse_json(replaced(file, one.from, one.to), "t.json");
    REQUIRE_FALSE(tokenizer);
    CAPTURE(tokenizer.error().message);
    CHECK(tokenizer.error().message.starts_with("t.json: "));
    CHECK(tokenizer.error().message.find(one.message) != std::string::npos);
    CHECK(tokenizer.error().status == one.status);
  }
}

TEST_CASE("tokenizer.json: what is no JSON object, and what has nothing in it") {
  for (const char* text :
       {"", "[]", "{", "\xff", "{}", R"({"model":[]})", R"({"model":{"type":"BPE"}})"})
    CHECK_FALSE(Tokenizer::parse_json(text, "t.json"));
}

TEST_CASE("tokenizer.json: components in components, as deep as a file says") {
  MadeJson made;
  const std::string inner = made.pre_tokenizer;
  for (int depth = 0; depth < 20; ++depth)
    made.pre_tokenizer = R"({"type":"Sequence","pretokenizers":[)" + made.pre_tokenizer + "]}";
  const auto tokenizer = Tokenizer::parse_json(made.text(), "t.json");
  REQUIRE_FALSE(tokenizer);
  CHECK(tokenizer.error().message.find("nested too deeply") != std::string::npos);
  made.pre_tokenizer =
      R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},)" + inner +
      "]}";
  CHECK(encoded(opened(made.text()), "11ab") == Tokens{7, 7, 4});
}

TEST_CASE("tokenizer.json: a split by a known regular expression, as two writers have it") {
  for (const char* how :
       {R"("behavior":"Isolated","invert":false)", R"("behavior":"Removed","invert":true)"}) {
    MadeJson made;
    made.pre_tokenizer =
        R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":)"
        R"("(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},)" +
        std::string(how) + R"(},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})";
    CHECK(encoded(opened(made.text()), "ab abc") == Tokens{4, 12});
  }
}

TEST_CASE("tokenizer.json: a space is put before where the file says so") {
  MadeJson made;
  made.pre_tokenizer = R"({"type":"ByteLevel"})";
  CHECK(encoded(opened(made.text()), "abc") == Tokens{12});
}

TEST_CASE("two texts are read together as the template of a pair says") {
  const auto pair_of = [](const std::string& pair) {
    MadeJson json;
    json.post_processor =
        R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}}],"pair":)" +
        pair + R"(,"special_tokens":{"<|end|>":{"ids":[20]}}})";
    return opened(json.text()).encode_pair({"ab", true}, {"c", true});
  };
  const std::string end[] = {R"({"SpecialToken":{"id":"<|end|>","type_id":0}})",
                             R"({"SpecialToken":{"id":"<|end|>","type_id":1}})",
                             R"({"SpecialToken":{"id":"<|end|>","type_id":2}})"};
  const std::string a = R"({"Sequence":{"id":"A","type_id":0}})";
  const std::string b = R"({"Sequence":{"id":"B","type_id":1}})";
  const std::string b_first = R"({"Sequence":{"id":"B","type_id":0}})";

  auto pair = pair_of("[" + end[0] + "," + a + "," + end[0] + "," + b + "," + end[1] + "]");
  REQUIRE(pair.has_value());
  CHECK(pair->tokens == Tokens{20, 4, 20, 2, 20});
  CHECK(pair->second == 3);
  pair = pair_of("[" + a + "," + end[1] + "," + b + "]");
  REQUIRE(pair.has_value());
  CHECK(pair->tokens == Tokens{4, 20, 2});
  CHECK(pair->second == 1);
  pair = pair_of("[" + a + "," + b_first + "]");
  REQUIRE(pair.has_value());
  CHECK(pair->tokens == Tokens{4, 2});
  CHECK(pair->second == 2);

  for (const std::string& other :
       {std::string("[]"), std::string("null"), "[" + b_first + "," + a + "]", "[" + a + "]",
        "[" + a + "," + b + "," + a + "]", "[" + a + "," + b + "," + end[0] + "]",
        "[" + a + "," + end[2] + "," + b + "]"}) {
    CAPTURE(other);
    const auto none = pair_of(other);
    REQUIRE(!none.has_value());
    CHECK(none.error().status == AXLE_UNSUPPORTED);
    CHECK(none.error().message.find("how two texts are read together") != std::string::npos);
  }
}

TEST_CASE("a template of a pair that is damaged is named") {
  MadeJson json;
  json.post_processor = R"({"type":"TemplateProcessing","single":[],"pair":7})";
  CHECK(Tokenizer::parse_json(json.text(), "t.json").error().message ==
        "t.json: post_processor.pair is not a list");
  json.post_processor =
      R"({"type":"TemplateProcessing","single":[],"pair":[{"SpecialToken":{"id":"x","type_id":0}}],)"
      R"("special_tokens":{"x":{"ids":[99]}}})";
  CHECK(Tokenizer::parse_json(json.text(), "t.json").error().message ==
        "t.json: post_processor.special_tokens.x.ids[0] is the id of no token");
}

}  // namespace

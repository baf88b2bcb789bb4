#include "runtime/tokenizer/text_split.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace axle::runtime;

using Words = std::vector<std::string>;

Words words(std::string_view text, std::vector<SplitRule> rules) {
  Words result;
  for_each_word(text, rules, [&](std::string_view word) { result.emplace_back(word); });
  return result;
}

TEST_CASE("text split: GPT-2") {
  const auto split = [](std::string_view text) { return words(text, {SplitRule::gpt2}); };
  CHECK(split("Hello world, it's 42!") == Words{"Hello", " world", ",", " it", "'s", " 42", "!"});
  CHECK(split("IT'S we'll 'x") == Words{"IT", "'", "S", " we", "'ll", " '", "x"});
  CHECK(split("a   b") == Words{"a", "  ", " b"});
  CHECK(split("a \n\nb  ") == Words{"a", " \n", "\n", "b", "  "});
  CHECK(split("x\xc2\xa0y") == Words{"x", "\xc2\xa0", "y"});
  CHECK(split("a\xe3\x80\x80\xe3\x80\x80z") == Words{"a", "\xe3\x80\x80", "\xe3\x80\x80", "z"});
  // A mark is no letter.
  CHECK(split("e\xcc\x81t") == Words{"e", "\xcc\x81", "t"});
  CHECK(split("").empty());
}

TEST_CASE("text split: Llama 3 and Qwen 2 differ in numbers") {
  const auto llama3 = [](std::string_view text) { return words(text, {SplitRule::llama3}); };
  CHECK(llama3("12345 IT'S") == Words{"123", "45", " IT", "'S"});
  CHECK(llama3("don'\xc5\xbf") == Words{"don", "'\xc5\xbf"});  // a long s
  CHECK(llama3("(abc) !?\r\n\nx") == Words{"(abc", ")", " !?\r\n\n", "x"});
  CHECK(llama3("a \n \n  b") == Words{"a", " \n \n", " ", " b"});
  CHECK(llama3("a\n 1") == Words{"a", "\n", " ", "1"});
  CHECK(llama3("\tx\ry") == Words{"\tx", "\r", "y"});
  CHECK(words("12345", {SplitRule::qwen2}) == Words{"1", "2", "3", "4", "5"});
}

TEST_CASE("text split: Mistral's words end where a new one begins") {
  const auto split = [](std::string_view text) { return words(text, {SplitRule::tekken}); };
  CHECK(split("HTTPServer iPhone ABC") == Words{"HTTPServer", " i", "Phone", " ABC"});
  CHECK(split("a/b//\n12") == Words{"a", "/b", "//\n", "1", "2"});
  // Letters without a case may begin and end a word; a mark may also be its leading sign.
  CHECK(split("東Ab東AB") == Words{"東Ab東", "AB"});
  CHECK(split("AB東CD") == Words{"AB東", "CD"});
  CHECK(split("\xcc\x81") == Words{"\xcc\x81"});
}

TEST_CASE("text split: digits by themselves, then the rest and a space before") {
  CHECK(words("ab 12c", {SplitRule::digits, SplitRule::gpt2}) == Words{"ab", " ", "1", "2", "c"});
  CHECK(words("ab", {SplitRule::space_before, SplitRule::gpt2}) == Words{" ab"});
  CHECK(words(" ab", {SplitRule::space_before}) == Words{" ab"});
  CHECK(words("\tab", {SplitRule::space_before}) == Words{" \tab"});
  CHECK(words("ab", {}) == Words{"ab"});
}

TEST_CASE("text split: rules by their regular expressions") {
  SplitRule rule{};
  CHECK(find_rule(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                  rule));
  CHECK(rule == SplitRule::gpt2);
  CHECK_FALSE(find_rule(R"(\p{L}+)", rule));
}

}  // namespace

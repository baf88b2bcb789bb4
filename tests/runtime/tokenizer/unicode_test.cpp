#include "runtime/tokenizer/unicode.h"

#include <doctest/doctest.h>

namespace {

using namespace axle::runtime;

TEST_CASE("unicode: classes of characters") {
  CHECK(class_of('A') == CharacterClass::upper_case);
  CHECK(class_of(0x1c5) == CharacterClass::upper_case);  // a title case digraph
  CHECK(class_of(0xdf) == CharacterClass::lower_case);
  CHECK(class_of(0x6771) == CharacterClass::other_letter);
  CHECK(class_of(0xbd) == CharacterClass::number);
  CHECK(class_of(0x301) == CharacterClass::nonspacing_mark);
  CHECK(class_of(0x903) == CharacterClass::mark);
  CHECK(class_of('_') == CharacterClass::punctuation);
  CHECK(class_of('+') == CharacterClass::symbol);
  for (const char32_t c : {U'\t', U'\n', U' ', U'\x85', U'\xa0', U'\u2028', U'\u3000'})
    CHECK(is_space(c));
  CHECK(class_of(0x1c) == CharacterClass::control);
  CHECK(class_of(0xe000) == CharacterClass::control);
  CHECK(class_of(0x378) == CharacterClass::other);
  CHECK(class_of(0x10ffff) == CharacterClass::other);
  CHECK(is_word('_'));
  CHECK(is_word(0x200d));
  CHECK_FALSE(is_word(0xbd));
  CHECK(is_young(0x1f9d1));
  CHECK_FALSE(is_young('a'));
}

TEST_CASE("unicode: lower case") {
  std::u32string lower;
  for (const char32_t c : U"AzÉΣẞİ東") append_lower_case(c, lower);
  lower.pop_back();  // the literal's end
  CHECK(lower == U"azéσßi\u0307東");
}

TEST_CASE("unicode: normal forms") {
  CHECK(decompose(U"é\uac01\u1e69") == U"e\u0301\u1100\u1161\u11a8s\u0323\u0307");
  CHECK(compose(U"e\u0301\u1100\u1161\u11a8s\u0307\u0323") == U"é\uac01\u1e69");
  CHECK(compose(U"\u0301e") == U"\u0301e");
  // Blocked by a mark of the same class; not composed again (an exclusion); a singleton.
  CHECK(compose(U"a\u0300\u0301") == U"à\u0301");
  CHECK(compose(U"\u0958") == U"\u0915\u093c");
  CHECK(compose(U"\u212b") == U"Å");
  // Trailing consonants begin at U+11A8.
  CHECK(compose(U"\uac00\u11a7") == U"\uac00\u11a7");
  CHECK(compose_utf8("plain") == "plain");
  CHECK(compose_utf8("e\xcc\x81") == "\xc3\xa9");
  // Unicode 9.0's: the parts of U+11938, which came later, stay apart.
  CHECK(compose(U"\U00011935\U00011930") == U"\U00011935\U00011930");
}

TEST_CASE("unicode: what is not UTF-8 becomes U+FFFD, one for each maximal part") {
  const std::string mark = "\xef\xbf\xbd";
  CHECK(valid_utf8("a\x80z") == "a" + mark + "z");
  CHECK(valid_utf8("\xf0\x9f\x98") == mark);
  CHECK(valid_utf8("\xf0\x9f\x98 \xc3\xa9") == mark + " \xc3\xa9");
  CHECK(valid_utf8("\xed\xa0\x80") == mark + mark + mark);  // a surrogate
  CHECK(valid_utf8("\xc0\xaf") == mark + mark);             // longer than it need be
  CHECK(valid_utf8("\xf4\x90\x80\x80") == mark + mark + mark + mark);
  CHECK(decode_utf8("\xe6\x9d\xb1\xff") == U"東\ufffd");
  CHECK(is_utf8("\xf4\x8f\xbf\xbf"));
  CHECK_FALSE(is_utf8("\xc3"));
}

TEST_CASE("unicode: characters at both ends, and one that is not whole") {
  CHECK(first_character("\xc3\xa9x").bytes == 2);
  CHECK(last_character("x\xf0\x9f\x98\x80").code == 0x1f600);
  CHECK(last_character("x\xf0\x9f\x98\x80").bytes == 4);
  CHECK(incomplete_bytes("x\xf0\x9f\x98") == 3);
  CHECK(incomplete_bytes("x\xf0\x9f\x98\x80") == 0);
  CHECK(incomplete_bytes("\xc3") == 1);
  CHECK(incomplete_bytes("\x80") == 0);
  CHECK(incomplete_bytes("\xed\xa0") == 0);
  CHECK(incomplete_bytes("") == 0);
}

}  // namespace

#pragma once
// What tokenizers ask of Unicode: classes of characters, lower case, normal forms, UTF-8. The
// tables are made at build time from Debian's unicode-data (15.0 in Debian 12). Hugging Face's
// tokenizers and llama.cpp bring tables of other versions: their classes differ in characters that
// one of the two does not know yet. Normal forms are those of Unicode 9.0, as in Hugging Face's.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace axle::runtime {

/// By general category. make_unicode_tables.py has the same names in the same order.
enum class CharacterClass : std::uint8_t {
  other,            ///< not assigned, surrogates
  upper_case,       ///< Lu and Lt
  lower_case,       ///< Ll
  other_letter,     ///< Lm and Lo
  number,           ///< Nd, Nl and No
  nonspacing_mark,  ///< Mn
  mark,             ///< Mc and Me
  punctuation,
  symbol,
  space,   ///< White_Space, whatever the category
  control  ///< Cc, Cf and Co
};

namespace tables {
extern const std::uint8_t class_pages[];
extern const std::uint8_t class_values[];
}  // namespace tables

/// The class in the low four bits, flags above. `c` is at most U+10FFFF.
[[nodiscard]] inline unsigned class_value(char32_t c) {
  return tables::class_values[std::size_t{tables::class_pages[c >> 8U]} << 8U | (c & 0xffU)];
}
[[nodiscard]] inline CharacterClass class_of(char32_t c) {
  return static_cast<CharacterClass>(class_value(c) & 0xfU);
}

/// \w of regular expressions.
[[nodiscard]] inline bool is_word(char32_t c) { return (class_value(c) & 0x10U) != 0; }
/// Assigned later than Unicode 8.0, whose categories Hugging Face's BERT has.
[[nodiscard]] inline bool is_young(char32_t c) { return (class_value(c) & 0x20U) != 0; }

[[nodiscard]] inline bool is_letter(CharacterClass c) {
  return c >= CharacterClass::upper_case && c <= CharacterClass::other_letter;
}
[[nodiscard]] inline bool is_space(char32_t c) { return class_of(c) == CharacterClass::space; }

/// One character as one or (for U+0130) two.
void append_lower_case(char32_t c, std::u32string& to);

[[nodiscard]] std::u32string decompose(std::u32string_view text);  ///< NFD
[[nodiscard]] std::u32string compose(std::u32string_view text);    ///< NFC

/// NFC of valid UTF-8.
[[nodiscard]] std::string compose_utf8(std::string_view text);

/// A character and its length in UTF-8.
struct Character {
  char32_t code;
  std::size_t bytes;
};

/// Of valid UTF-8 that is not empty.
[[nodiscard]] Character first_character(std::string_view text);
[[nodiscard]] Character last_character(std::string_view text);

/// `text` if it is UTF-8. A byte sequence that is not becomes U+FFFD, one for each maximal part of
/// a character, as the Unicode standard recommends (chapter 3, "U+FFFD Substitution of Maximal
/// Subparts").
[[nodiscard]] std::string valid_utf8(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);

/// As valid_utf8, by character.
[[nodiscard]] std::u32string decode_utf8(std::string_view text);
void append_utf8(char32_t c, std::string& to);
[[nodiscard]] std::string encode_utf8(std::u32string_view text);

/// Bytes at the end of `text` that may be the beginning of a character.
[[nodiscard]] std::size_t incomplete_bytes(std::string_view text);

}  // namespace axle::runtime

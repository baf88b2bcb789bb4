#pragma once
// What tokenizers ask of Unicode: classes of characters, lower case, normal forms. The tables are
// made at build time from Debian's unicode-data; a tokenizer trained with another version of
// Unicode differs only in characters that one of the two does not know.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axle::runtime {

enum class CharacterClass : std::uint8_t {
  letter,
  number,           ///< Nd and Nl
  other_number,     ///< No: fractions, superscripts
  nonspacing_mark,  ///< Mn
  mark,             ///< the other marks
  punctuation,
  symbol,
  space,  ///< White_Space
  other,  ///< control, format, private use; without white space
  unassigned
};

[[nodiscard]] CharacterClass class_of(char32_t c);
[[nodiscard]] inline bool is_letter(char32_t c) { return class_of(c) == CharacterClass::letter; }
/// \p{N} of regular expressions.
[[nodiscard]] inline bool is_number(char32_t c) {
  const CharacterClass own = class_of(c);
  return own == CharacterClass::number || own == CharacterClass::other_number;
}
[[nodiscard]] inline bool is_space(char32_t c) { return class_of(c) == CharacterClass::space; }

/// One character as one or (for U+0130) two.
void append_lower_case(char32_t c, std::u32string& to);

[[nodiscard]] std::u32string decompose(std::u32string_view text);  ///< NFD
[[nodiscard]] std::u32string compose(std::u32string_view text);    ///< NFC

/// A byte sequence that is not UTF-8 becomes U+FFFD, one for each maximal part of a character, as
/// the Unicode standard recommends (chapter 3, "U+FFFD Substitution of Maximal Subparts").
[[nodiscard]] std::u32string decode_utf8(std::string_view text);
void append_utf8(char32_t c, std::string& to);
[[nodiscard]] std::string encode_utf8(std::u32string_view text);

/// Bytes at the end of `text` that may be the beginning of a character.
[[nodiscard]] std::size_t incomplete_bytes(std::string_view text);

}  // namespace axle::runtime

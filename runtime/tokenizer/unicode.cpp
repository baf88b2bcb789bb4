#include "runtime/tokenizer/unicode.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace axle::runtime {
namespace {

struct CombiningRange {
  char32_t first;
  char32_t last;
  std::uint8_t value;
};
struct LowerCase {
  char32_t from;
  char32_t to;
};
struct Decomposition {
  char32_t from;
  std::uint16_t place;
  std::uint8_t count;
};
struct Composition {
  char32_t first;
  char32_t second;
  char32_t to;
};

}  // namespace

#include "unicode_tables.inc"

namespace {

// Hangul syllables are computed (Unicode standard, section 3.12).
constexpr char32_t syllables = 0xac00;
constexpr char32_t leading = 0x1100;
constexpr char32_t vowels = 0x1161;
constexpr char32_t trailing = 0x11a7;
constexpr char32_t vowel_count = 21;
constexpr char32_t trailing_count = 28;
constexpr char32_t leading_count = 19;
constexpr char32_t syllable_count = leading_count * vowel_count * trailing_count;

template <class Row, std::size_t N>
const Row* find_range(const Row (&table)[N], char32_t c) {
  const Row* const row = std::upper_bound(std::begin(table), std::end(table), c,
                                          [](char32_t x, const Row& r) { return x < r.first; });
  return row == std::begin(table) || c > std::prev(row)->last ? nullptr : std::prev(row);
}

std::uint8_t combining_class(char32_t c) {
  const CombiningRange* const range = find_range(combining_ranges, c);
  return range == nullptr ? 0 : range->value;
}

void append_decomposed(char32_t c, std::u32string& to) {
  if (c - syllables < syllable_count) {
    const char32_t index = c - syllables;
    to += static_cast<char32_t>(leading + index / (vowel_count * trailing_count));
    to += static_cast<char32_t>(vowels + index % (vowel_count * trailing_count) / trailing_count);
    if (index % trailing_count != 0) to += trailing + index % trailing_count;
    return;
  }
  const Decomposition* const found =
      std::lower_bound(std::begin(decompositions), std::end(decompositions), c,
                       [](const Decomposition& row, char32_t x) { return row.from < x; });
  if (found == std::end(decompositions) || found->from != c) {
    to += c;
    return;
  }
  to.append(decomposed + found->place, found->count);
}

/// The character that both make together, or 0.
char32_t composed(char32_t first, char32_t second) {
  if (first - leading < leading_count && second - vowels < vowel_count)
    return syllables + ((first - leading) * vowel_count + (second - vowels)) * trailing_count;
  if (first - syllables < syllable_count && (first - syllables) % trailing_count == 0 &&
      second > trailing && second - trailing < trailing_count)
    return first + (second - trailing);
  const Composition* const found = std::lower_bound(
      std::begin(compositions), std::end(compositions), std::pair(first, second),
      [](const Composition& row, const std::pair<char32_t, char32_t>& pair) {
        return row.first != pair.first ? row.first < pair.first : row.second < pair.second;
      });
  const bool same =
      found != std::end(compositions) && found->first == first && found->second == second;
  return same ? found->to : 0;
}

}  // namespace

void append_lower_case(char32_t c, std::u32string& to) {
  if (c < 0x80) {
    to += c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    return;
  }
  if (c == 0x130) {  // SpecialCasing.txt: the only unconditional one
    to += U"i\u0307";
    return;
  }
  const LowerCase* const found =
      std::lower_bound(std::begin(lower_cases), std::end(lower_cases), c,
                       [](const LowerCase& row, char32_t x) { return row.from < x; });
  to += found != std::end(lower_cases) && found->from == c ? found->to : c;
}

std::u32string decompose(std::u32string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (const char32_t c : text) append_decomposed(c, result);
  // Marks behind a character in the order of their classes, else as they stand (canonical
  // ordering). A key is the class, the place and the character of a mark.
  constexpr unsigned character_bits = 21;
  std::vector<std::uint64_t> keys;
  for (std::size_t i = 0; i < result.size(); ++i) {
    keys.clear();
    std::uint8_t own = 0;
    for (; i < result.size() && (own = combining_class(result[i])) != 0; ++i)
      keys.push_back(std::uint64_t{own} << 56U | keys.size() << character_bits | result[i]);
    std::sort(keys.begin(), keys.end());
    for (std::size_t k = 0; k < keys.size(); ++k)
      result[i - keys.size() + k] = static_cast<char32_t>(keys[k] & ((1U << character_bits) - 1));
  }
  return result;
}

std::u32string compose(std::u32string_view text) {
  const std::u32string source = decompose(text);
  std::u32string result;
  result.reserve(source.size());
  std::size_t starter = std::u32string::npos;
  int last_class = -1;
  for (const char32_t c : source) {
    const int own_class = combining_class(c);
    // Nothing of the same or a higher class may stand between.
    if (starter != std::u32string::npos && last_class < own_class) {
      const char32_t together = composed(result[starter], c);
      if (together != 0) {
        result[starter] = together;
        continue;
      }
    }
    if (own_class == 0) {
      starter = result.size();
      last_class = -1;
    } else {
      last_class = own_class;
    }
    result += c;
  }
  return result;
}

std::string compose_utf8(std::string_view text) {
  // Nothing below U+0300 changes.
  const bool same = std::none_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) >= 0xcc; });
  return same ? std::string(text) : encode_utf8(compose(decode_utf8(text)));
}

}  // namespace axle::runtime

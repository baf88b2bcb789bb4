#include "runtime/tokenizer/unicode.h"

#include <algorithm>
#include <iterator>

namespace axle::runtime {
namespace {

struct ClassRange {
  char32_t first;
  char32_t last;
  CharacterClass value;
};
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

#include "unicode_tables.inc"

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
    to += leading + index / (vowel_count * trailing_count);
    to += vowels + index % (vowel_count * trailing_count) / trailing_count;
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

CharacterClass class_of(char32_t c) {
  const ClassRange* const range = find_range(class_ranges, c);
  return range == nullptr ? CharacterClass::unassigned : range->value;
}

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
  // Marks behind a character in the order of their classes (canonical ordering).
  for (std::size_t i = 0; i < result.size();) {
    if (combining_class(result[i]) == 0) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < result.size() && combining_class(result[end]) != 0) ++end;
    std::stable_sort(result.begin() + static_cast<std::ptrdiff_t>(i),
                     result.begin() + static_cast<std::ptrdiff_t>(end), [](char32_t a, char32_t b) {
                       return combining_class(a) < combining_class(b);
                     });
    i = end;
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

namespace {

struct Decoded {
  char32_t character;
  std::size_t bytes;
  bool cut_short;  ///< the text ends inside a character
};

/// Table 3-7 of the Unicode standard: which second bytes a first byte may have.
Decoded decode_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, false};
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  char32_t c = 0;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
    c = first & 0x1fU;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    c = first & 0x0fU;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    c = first & 0x07U;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  } else {
    return {0xfffd, 1, false};
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {0xfffd, i, true};
    if (byte(i) < low || byte(i) > high) return {0xfffd, i, false};
    c = c << 6U | (byte(i) & 0x3fU);
    low = 0x80;
    high = 0xbf;
  }
  return {c, length, false};
}

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode_at(text);
    result += next.character;
    text.remove_prefix(next.bytes);
  }
  return result;
}

void append_utf8(char32_t c, std::string& to) {
  if (c < 0x80) {
    to += static_cast<char>(c);
  } else if (c < 0x800) {
    to += static_cast<char>(0xc0U | c >> 6U);
    to += static_cast<char>(0x80U | (c & 0x3fU));
  } else if (c < 0x10000) {
    to += static_cast<char>(0xe0U | c >> 12U);
    to += static_cast<char>(0x80U | (c >> 6U & 0x3fU));
    to += static_cast<char>(0x80U | (c & 0x3fU));
  } else {
    to += static_cast<char>(0xf0U | c >> 18U);
    to += static_cast<char>(0x80U | (c >> 12U & 0x3fU));
    to += static_cast<char>(0x80U | (c >> 6U & 0x3fU));
    to += static_cast<char>(0x80U | (c & 0x3fU));
  }
}

std::string encode_utf8(std::u32string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char32_t c : text) append_utf8(c, result);
  return result;
}

std::size_t incomplete_bytes(std::string_view text) {
  const std::size_t most = std::min<std::size_t>(3, text.size());
  for (std::size_t count = most; count > 0; --count) {
    const std::string_view end = text.substr(text.size() - count);
    if ((static_cast<unsigned char>(end[0]) & 0xc0U) != 0xc0U) continue;
    const Decoded decoded = decode_at(end);
    if (decoded.cut_short && decoded.bytes == count) return count;
  }
  return 0;
}

}  // namespace axle::runtime

#include <algorithm>

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

struct Decoded {
  char32_t character;
  std::size_t bytes;
  bool valid;
  bool cut_short = false;  ///< the text ends inside a character
};

/// Table 3-7 of the Unicode standard: which second bytes a first byte may have.
Decoded decode_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
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
    if (i == text.size()) return {0xfffd, i, false, true};
    if (byte(i) < low || byte(i) > high) return {0xfffd, i, false};
    c = c << 6U | (byte(i) & 0x3fU);
    low = 0x80;
    high = 0xbf;
  }
  return {c, length, true};
}

}  // namespace

Character first_character(std::string_view text) {
  const Decoded decoded = decode_at(text);
  return {decoded.character, decoded.bytes};
}

Character last_character(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && bytes < 4 &&
         (static_cast<unsigned char>(text[text.size() - bytes]) & 0xc0U) == 0x80)
    ++bytes;
  return {decode_at(text.substr(text.size() - bytes)).character, bytes};
}

namespace {

/// Bytes at the beginning that are UTF-8, up to the first that are not.
std::size_t valid_bytes(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Decoded next = decode_at(text.substr(at));
    if (!next.valid) break;
    at += next.bytes;
  }
  return at;
}

}  // namespace

bool is_utf8(std::string_view text) { return valid_bytes(text) == text.size(); }

std::string valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t valid = valid_bytes(text);
    result += text.substr(0, valid);
    text.remove_prefix(valid);
    if (text.empty()) break;
    append_utf8(0xfffd, result);
    text.remove_prefix(decode_at(text).bytes);
  }
  return result;
}

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

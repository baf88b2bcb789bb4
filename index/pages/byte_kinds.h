#pragma once
// Bytes of some kind in a text: used for every byte of every page.

#include <array>
#include <cstddef>
#include <string_view>

namespace axle::index {

using Byte = unsigned char;

/// Compilers vectorise loops of fixed length over plain bytes without early exit; `is_kind`
/// therefore returns 0 or 1 without branches.
template <Byte (*is_kind)(Byte)>
[[nodiscard]] bool has_any(std::string_view text) {
  constexpr std::size_t block = 32;
  Byte found = 0;
  const auto look_at_block = [&found](const char* bytes) {
    std::array<Byte, block> kinds;
    for (std::size_t i = 0; i < block; ++i) kinds[i] = is_kind(static_cast<Byte>(bytes[i]));
    for (std::size_t i = 0; i < block; ++i) found |= kinds[i];
  };
  if (text.size() >= block) {
    std::size_t begin = 0;
    for (; begin + block < text.size(); begin += block) look_at_block(text.data() + begin);
    look_at_block(text.data() + text.size() - block);  // overlaps the one before it
  } else {
    for (const char c : text) found |= is_kind(static_cast<Byte>(c));
  }
  return found != 0;
}

/// How many bytes of it there are.
template <Byte (*is_kind)(Byte)>
[[nodiscard]] std::size_t count_of(std::string_view text) {
  constexpr std::size_t block = 32;
  std::size_t count = 0;
  for (; text.size() >= block; text.remove_prefix(block)) {
    std::array<Byte, block> kinds;
    Byte found = 0;
    for (std::size_t i = 0; i < block; ++i) kinds[i] = is_kind(static_cast<Byte>(text[i]));
    for (std::size_t i = 0; i < block; ++i) found = static_cast<Byte>(found + kinds[i]);
    count += found;
  }
  for (const char c : text) count += is_kind(static_cast<Byte>(c));
  return count;
}

}  // namespace axle::index

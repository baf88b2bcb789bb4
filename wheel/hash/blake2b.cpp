#include "wheel/hash/blake2b.h"

#include <algorithm>
#include <bit>

namespace axle::wheel {
namespace {

constexpr std::size_t digest_size = 32;
constexpr std::size_t rounds = 12;

/// RFC 7693, 2.6: those of SHA-512.
constexpr std::array<std::uint64_t, 8> initial = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/// RFC 7693, 2.7; rounds 10 and 11 use the first two rows again.
constexpr std::array<std::array<std::uint8_t, 16>, 10> schedule = {{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

using Words = std::array<std::uint64_t, 16>;

void mix(Words& v, const std::array<std::size_t, 4>& at, std::uint64_t x, std::uint64_t y) {
  auto& [a, b, c, d] = at;
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 63);
}

std::uint64_t little_endian(const std::byte* bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

}  // namespace

Blake2b256::Blake2b256() : state_(initial) {
  state_[0] ^= 0x01010000 ^ digest_size;  // no key, one leaf
}

void Blake2b256::compress(bool last) {
  Words v;
  Words m;
  for (std::size_t i = 0; i < 16; ++i) m[i] = little_endian(block_.data() + 8 * i);
  std::ranges::copy(state_, v.begin());
  std::ranges::copy(initial, v.begin() + 8);
  v[12] ^= counted_;
  if (last) v[14] = ~v[14];
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto& s = schedule[round % schedule.size()];
    for (std::size_t i = 0; i < 4; ++i)
      mix(v, {i, 4 + i, 8 + i, 12 + i}, m[s[2 * i]], m[s[2 * i + 1]]);
    for (std::size_t i = 0; i < 4; ++i) {
      mix(v, {i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4}, m[s[8 + 2 * i]],
          m[s[9 + 2 * i]]);
    }
  }
  for (std::size_t i = 0; i < 8; ++i) state_[i] ^= v[i] ^ v[8 + i];
}

void Blake2b256::update(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // The last block is compressed as such: a full one waits until more comes.
    if (filled_ == block_size) {
      counted_ += block_size;
      compress(false);
      filled_ = 0;
    }
    const std::size_t taken = std::min(bytes.size(), block_size - filled_);
    std::ranges::copy(bytes.first(taken), block_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += taken;
    bytes = bytes.subspan(taken);
  }
}

std::string Blake2b256::finish() {
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), std::byte{0});
  counted_ += filled_;
  compress(true);
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < digest_size; ++i) {
    const auto byte = static_cast<unsigned>((state_[i / 8] >> (8 * (i % 8))) & 0xFF);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

}  // namespace axle::wheel

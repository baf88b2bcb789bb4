#include "wheel/hash/short_sha256.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <iterator>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace axle::wheel {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t length_bytes = 8;

using State = std::array<std::uint32_t, 8>;

constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr State first_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::uint32_t read_big_endian(const char* at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(at[i]);
  return value;
}

void compress_plainly(State& state, const char* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < 16; ++i) words[i] = read_big_endian(block + 4 * i);
  for (std::size_t i = 16; i < words.size(); ++i) {
    const std::uint32_t a = words[i - 15];
    const std::uint32_t b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + round_constants[i] + words[i];
    const std::uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

#ifdef __x86_64__
__m128i load(const void* at) { return _mm_loadu_si128(static_cast<const __m128i*>(at)); }

/// Two rounds an instruction, and the next words of the message in two (Intel SDM, SHA256RNDS2,
/// SHA256MSG1, SHA256MSG2).
[[gnu::target("sha,sse4.1")]] void compress_by_instructions(State& state, const char* block) {
  const auto four = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    const State& s = state;
    return _mm_set_epi32(static_cast<int>(s[a]), static_cast<int>(s[b]), static_cast<int>(s[c]),
                         static_cast<int>(s[d]));
  };
  // As the instructions have the state, highest first.
  const __m128i abef_before = four(0, 1, 4, 5);
  const __m128i cdgh_before = four(2, 3, 6, 7);
  __m128i abef = abef_before;
  __m128i cdgh = cdgh_before;
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i words[4];  // a template would lose the alignment of the type
  for (std::size_t i = 0; i < std::size(words); ++i)
    words[i] = _mm_shuffle_epi8(load(block + 16 * i), big_endian);
  for (std::size_t i = 0; i < round_constants.size() / 4; ++i) {
    __m128i& own = words[i % 4];
    const __m128i last = words[(i + 3) % 4];
    __m128i added = _mm_add_epi32(own, load(round_constants.data() + 4 * i));
    for (std::size_t half = 0; half < 2; ++half) {
      const __m128i next = _mm_sha256rnds2_epu32(cdgh, abef, added);
      cdgh = abef;
      abef = next;
      added = _mm_unpackhi_epi64(added, added);
    }
    const __m128i seven_before = _mm_alignr_epi8(last, words[(i + 2) % 4], 4);
    own = _mm_sha256msg2_epu32(
        _mm_add_epi32(_mm_sha256msg1_epu32(own, words[(i + 1) % 4]), seven_before), last);
  }
  std::array<std::uint32_t, 4> high;
  std::array<std::uint32_t, 4> low;
  std::memcpy(high.data(), &(abef = _mm_add_epi32(abef, abef_before)), sizeof high);
  std::memcpy(low.data(), &(cdgh = _mm_add_epi32(cdgh, cdgh_before)), sizeof low);
  state = {high[3], high[2], low[3], low[2], high[1], high[0], low[1], low[0]};
}
#endif

}  // namespace

bool has_sha_instructions() {
#ifdef __x86_64__
  static const bool has = [] {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    const bool sse = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
    return sse && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
  }();
  return has;
#else
  return false;
#endif
}

bool take_as_short(std::size_t bytes) {
  static std::atomic<std::size_t> taken = 0;
  const std::size_t most = has_sha_instructions() ? most_by_instructions : most_without;
  return bytes <= most && taken.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most;
}

Sha256Digest short_sha256(std::string_view text, bool by_instructions) {
#ifdef __x86_64__
  const auto compress = by_instructions ? compress_by_instructions : compress_plainly;
#else
  static_cast<void>(by_instructions);
  const auto compress = compress_plainly;
#endif
  State state = first_state;
  std::size_t done = 0;
  for (; text.size() - done >= block_bytes; done += block_bytes)
    compress(state, text.data() + done);
  // The rest, a one bit, and the number of bits at the end of a block.
  std::array<char, 2 * block_bytes> end{};
  const std::size_t rest = text.size() - done;
  std::ranges::copy(text.substr(done), end.begin());
  end[rest] = static_cast<char>(0x80);
  const std::size_t used = rest + 1 + length_bytes <= block_bytes ? block_bytes : end.size();
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (std::size_t i = 0; i < length_bytes; ++i)
    end[used - 1 - i] = static_cast<char>(bits >> (8 * i) & 0xff);
  for (std::size_t at = 0; at < used; at += block_bytes) compress(state, end.data() + at);
  Sha256Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

}  // namespace axle::wheel

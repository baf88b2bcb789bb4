#pragma once
// AVX2 and F16C, which every CPU with AVX2 has: 32-byte vectors. vector_portable.h says what each
// operation means. A kernel file may define AXLE_VECTOR_TARGET first to add what it needs beyond
// AVX2.

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#ifndef AXLE_VECTOR_TARGET
#define AXLE_VECTOR_TARGET "avx2,f16c"
#endif
#define AXLE_VECTOR_HAS_BYTE_PRODUCTS
#define AXLE_TARGET [[gnu::target(AXLE_VECTOR_TARGET)]]
#define AXLE_VECTOR_OP [[gnu::target(AXLE_VECTOR_TARGET), gnu::always_inline]] static inline

namespace axle::runtime {
namespace {

struct Vector {
  using Floats = __m256;
  using Ints = __m256i;
  static constexpr int bytes = 32;
  static constexpr int registers = 16;

  AXLE_VECTOR_OP Floats load_floats(const float* from) { return _mm256_loadu_ps(from); }
  AXLE_VECTOR_OP void store_floats(float* to, Floats v) { _mm256_storeu_ps(to, v); }
  AXLE_VECTOR_OP Floats broadcast_float(float v) { return _mm256_set1_ps(v); }
  AXLE_VECTOR_OP Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  AXLE_VECTOR_OP Floats add_floats(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  AXLE_VECTOR_OP Floats subtract_floats(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  AXLE_VECTOR_OP Floats divide(Floats a, Floats b) { return _mm256_div_ps(a, b); }
  AXLE_VECTOR_OP Floats larger_float(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  AXLE_VECTOR_OP Floats smaller_float(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  AXLE_VECTOR_OP Floats as_floats(Ints v) { return _mm256_castsi256_ps(v); }
  AXLE_VECTOR_OP Ints as_ints(Floats v) { return _mm256_castps_si256(v); }
  AXLE_VECTOR_OP Ints round(Floats v) { return _mm256_cvtps_epi32(v); }
  AXLE_VECTOR_OP Floats to_floats(Ints v) { return _mm256_cvtepi32_ps(v); }

  AXLE_VECTOR_OP Ints zero() { return _mm256_setzero_si256(); }
  AXLE_VECTOR_OP Ints broadcast_int(std::int32_t v) { return _mm256_set1_epi32(v); }
  AXLE_VECTOR_OP Ints load_ints(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  AXLE_VECTOR_OP void store_ints(void* to, Ints v) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), v);
  }
  AXLE_VECTOR_OP Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
  AXLE_VECTOR_OP Ints subtract(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
  AXLE_VECTOR_OP Ints bit_and(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  AXLE_VECTOR_OP Ints bit_xor(Ints a, Ints b) { return _mm256_xor_si256(a, b); }
  AXLE_VECTOR_OP Ints largest(Ints a, Ints b) { return _mm256_max_epi32(a, b); }
  template <int bits>
  AXLE_VECTOR_OP Ints shift_left(Ints v) {
    return _mm256_slli_epi32(v, bits);
  }
  AXLE_VECTOR_OP Ints spread_int8(const std::int8_t* from) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  AXLE_VECTOR_OP Floats load_halves(const std::uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  AXLE_VECTOR_OP Ints shift_left_8(Ints v) { return _mm256_slli_epi32(v, 8); }
  AXLE_VECTOR_OP Ints shift_right_8(Ints v) { return _mm256_srai_epi32(v, 8); }

  template <int count>
  AXLE_VECTOR_OP Ints shift_right(Ints v) {
    return _mm256_srli_epi32(v, count);
  }
  template <int count>
  AXLE_VECTOR_OP Ints shift_right_signed(Ints v) {
    return _mm256_srai_epi32(v, count);
  }
  AXLE_VECTOR_OP Ints multiply_int16(Ints a, Ints b) { return _mm256_mullo_epi16(a, b); }
  AXLE_VECTOR_OP Ints subtract_bytes(Ints a, Ints b) { return _mm256_sub_epi8(a, b); }
  AXLE_VECTOR_OP Ints spread_bytes(const std::uint8_t* from) {
    const __m256i lanes =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    return _mm256_shuffle_epi8(lanes, _mm256_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0,
                                                       0x0c0c0c0c, 0x08080808, 0x04040404, 0));
  }
  AXLE_VECTOR_OP Floats load_bfloat16(const std::uint16_t* from) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight), 16));
  }
  AXLE_VECTOR_OP Ints multiply_bytes(Ints unsigned_bytes, Ints signed_bytes) {
    return _mm256_maddubs_epi16(unsigned_bytes, signed_bytes);
  }
  AXLE_VECTOR_OP Ints add_int16(Ints a, Ints b) { return _mm256_add_epi16(a, b); }

  AXLE_VECTOR_OP __m128i narrow_to_int16(Ints v) {
    return _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  }
  AXLE_VECTOR_OP void store_int16(std::int16_t* to, Ints v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), narrow_to_int16(v));
  }
  AXLE_VECTOR_OP void store_int8(std::int8_t* to, Ints v) {
    const __m128i words = narrow_to_int16(v);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(words, words));
  }

  AXLE_VECTOR_OP Ints widen(const std::int8_t* from) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  AXLE_VECTOR_OP Ints broadcast_four_int16(const std::int16_t* from) {
    return _mm256_broadcastq_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  AXLE_VECTOR_OP Ints add_pairs_multiplied(Ints sums, Ints a, Ints b) {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(a, b));
  }
  AXLE_VECTOR_OP void store_neighbour_sums(std::int32_t* to, Ints v, bool first) {
    __m128i four = _mm_hadd_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    __m128i* const place = reinterpret_cast<__m128i*>(to);
    if (!first) four = _mm_add_epi32(four, _mm_loadu_si128(place));
    _mm_storeu_si128(place, four);
  }

  AXLE_VECTOR_OP Ints broadcast_four_bytes(const std::uint8_t* from) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, from, 4);
    return _mm256_set1_epi32(four);
  }
#ifdef AXLE_VECTOR_HAS_DOT
  AXLE_VECTOR_OP Ints add_dot(Ints sums, Ints unsigned_bytes, Ints signed_bytes) {
    return _mm256_dpbusd_avx_epi32(sums, unsigned_bytes, signed_bytes);
  }
#endif
};

}  // namespace
}  // namespace axle::runtime

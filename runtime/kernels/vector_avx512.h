#pragma once
// AVX-512 F and BW: 64-byte vectors. vector_portable.h says what each operation means.
// A kernel file may define AXLE_VECTOR_TARGET first to add what it needs beyond these.

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#ifndef AXLE_VECTOR_TARGET
#define AXLE_VECTOR_TARGET "avx512f,avx512bw"
#endif
#define AXLE_VECTOR_HAS_BYTE_PRODUCTS
#define AXLE_TARGET [[gnu::target(AXLE_VECTOR_TARGET)]]
#define AXLE_VECTOR_OP [[gnu::target(AXLE_VECTOR_TARGET), gnu::always_inline]] static inline

namespace axle::runtime {
namespace {

struct Vector {
  using Floats = __m512;
  using Ints = __m512i;
  static constexpr int bytes = 64;
  static constexpr int registers = 32;

  AXLE_VECTOR_OP Floats load_floats(const float* from) { return _mm512_loadu_ps(from); }
  AXLE_VECTOR_OP void store_floats(float* to, Floats v) { _mm512_storeu_ps(to, v); }
  AXLE_VECTOR_OP Floats broadcast_float(float v) { return _mm512_set1_ps(v); }
  AXLE_VECTOR_OP Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  AXLE_VECTOR_OP Floats add_floats(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  AXLE_VECTOR_OP Floats subtract_floats(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  AXLE_VECTOR_OP Floats divide(Floats a, Floats b) { return _mm512_div_ps(a, b); }
  AXLE_VECTOR_OP Floats larger_float(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  AXLE_VECTOR_OP Floats smaller_float(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  AXLE_VECTOR_OP Floats as_floats(Ints v) { return _mm512_castsi512_ps(v); }
  AXLE_VECTOR_OP Ints as_ints(Floats v) { return _mm512_castps_si512(v); }
  AXLE_VECTOR_OP Ints round(Floats v) { return _mm512_cvtps_epi32(v); }
  AXLE_VECTOR_OP Floats to_floats(Ints v) { return _mm512_cvtepi32_ps(v); }

  AXLE_VECTOR_OP Ints zero() { return _mm512_setzero_si512(); }
  AXLE_VECTOR_OP Ints broadcast_int(std::int32_t v) { return _mm512_set1_epi32(v); }
  AXLE_VECTOR_OP Ints load_ints(const void* from) { return _mm512_loadu_si512(from); }
  AXLE_VECTOR_OP void store_ints(void* to, Ints v) { _mm512_storeu_si512(to, v); }
  AXLE_VECTOR_OP Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
  AXLE_VECTOR_OP Ints subtract(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
  AXLE_VECTOR_OP Ints bit_and(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  AXLE_VECTOR_OP Ints bit_xor(Ints a, Ints b) { return _mm512_xor_si512(a, b); }
  AXLE_VECTOR_OP Ints largest(Ints a, Ints b) { return _mm512_max_epi32(a, b); }
  template <int bits>
  AXLE_VECTOR_OP Ints shift_left(Ints v) {
    return _mm512_slli_epi32(v, bits);
  }
  AXLE_VECTOR_OP Ints spread_int8(const std::int8_t* from) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  AXLE_VECTOR_OP Floats load_halves(const std::uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  AXLE_VECTOR_OP Ints shift_left_8(Ints v) { return _mm512_slli_epi32(v, 8); }
  AXLE_VECTOR_OP Ints shift_right_8(Ints v) { return _mm512_srai_epi32(v, 8); }

  template <int count>
  AXLE_VECTOR_OP Ints shift_right(Ints v) {
    return _mm512_srli_epi32(v, count);
  }
  template <int count>
  AXLE_VECTOR_OP Ints shift_right_signed(Ints v) {
    return _mm512_srai_epi32(v, count);
  }
  AXLE_VECTOR_OP Ints multiply_int16(Ints a, Ints b) { return _mm512_mullo_epi16(a, b); }
  AXLE_VECTOR_OP Ints subtract_bytes(Ints a, Ints b) { return _mm512_sub_epi8(a, b); }
  AXLE_VECTOR_OP Ints spread_bytes(const std::uint8_t* from) {
    const __m512i lanes =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return _mm512_shuffle_epi8(lanes, _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0));
  }
  AXLE_VECTOR_OP Floats load_bfloat16(const std::uint16_t* from) {
    const __m256i sixteen = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(sixteen), 16));
  }
  AXLE_VECTOR_OP Ints multiply_bytes(Ints unsigned_bytes, Ints signed_bytes) {
    return _mm512_maddubs_epi16(unsigned_bytes, signed_bytes);
  }
  AXLE_VECTOR_OP Ints add_int16(Ints a, Ints b) { return _mm512_add_epi16(a, b); }
  /// (v & mask) ^ flip.
  AXLE_VECTOR_OP Ints and_xor(Ints v, Ints mask, Ints flip) {
    return _mm512_ternarylogic_epi32(v, mask, flip, 0x6a);
  }

  AXLE_VECTOR_OP void store_int16(std::int16_t* to, Ints v) {
    _mm512_mask_cvtepi32_storeu_epi16(to, 0xffff, v);
  }
  AXLE_VECTOR_OP void store_int8(std::int8_t* to, Ints v) {
    _mm512_mask_cvtepi32_storeu_epi8(to, 0xffff, v);
  }

  AXLE_VECTOR_OP Ints widen(const std::int8_t* from) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  AXLE_VECTOR_OP Ints broadcast_four_int16(const std::int16_t* from) {
    std::int64_t four = 0;
    __builtin_memcpy(&four, from, 8);
    return _mm512_set1_epi64(four);
  }
  AXLE_VECTOR_OP Ints add_pairs_multiplied(Ints sums, Ints a, Ints b) {
    return _mm512_add_epi32(sums, _mm512_madd_epi16(a, b));
  }
  /// Lane 2i holds the neighbours' sum after the shift; a narrowing conversion drops the rest.
  AXLE_VECTOR_OP void store_neighbour_sums(std::int32_t* to, Ints v, bool first) {
    __m256i eight = _mm512_cvtepi64_epi32(_mm512_add_epi32(v, _mm512_srli_epi64(v, 32)));
    __m256i* const place = reinterpret_cast<__m256i*>(to);
    if (!first) eight = _mm256_add_epi32(eight, _mm256_loadu_si256(place));
    _mm256_storeu_si256(place, eight);
  }

  AXLE_VECTOR_OP Ints broadcast_four_bytes(const std::uint8_t* from) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, from, 4);
    return _mm512_set1_epi32(four);
  }
#ifdef AXLE_VECTOR_HAS_DOT
  AXLE_VECTOR_OP Ints add_dot(Ints sums, Ints unsigned_bytes, Ints signed_bytes) {
    return _mm512_dpbusd_epi32(sums, unsigned_bytes, signed_bytes);
  }
#endif
};

}  // namespace
}  // namespace axle::runtime

#pragma once
// SSE2, which every x86-64 CPU has: 16-byte vectors. The operations are those that the steps in
// float_steps.h and multiply.h are written in; vector_portable.h says what each means.

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#define AXLE_VECTOR_HAS_NEIGHBOUR_SUMS
#define AXLE_TARGET [[gnu::target("sse2")]]
#define AXLE_VECTOR_OP [[gnu::target("sse2"), gnu::always_inline]] static inline

namespace axle::runtime {
namespace {

struct Vector {
  using Floats = __m128;
  using Ints = __m128i;
  static constexpr int bytes = 16;
  static constexpr int registers = 16;

  AXLE_VECTOR_OP Floats load_floats(const float* from) { return _mm_loadu_ps(from); }
  AXLE_VECTOR_OP void store_floats(float* to, Floats v) { _mm_storeu_ps(to, v); }
  AXLE_VECTOR_OP Floats broadcast_float(float v) { return _mm_set1_ps(v); }
  AXLE_VECTOR_OP Floats multiply(Floats a, Floats b) { return _mm_mul_ps(a, b); }
  AXLE_VECTOR_OP Floats add_floats(Floats a, Floats b) { return _mm_add_ps(a, b); }
  AXLE_VECTOR_OP Floats subtract_floats(Floats a, Floats b) { return _mm_sub_ps(a, b); }
  AXLE_VECTOR_OP Floats divide(Floats a, Floats b) { return _mm_div_ps(a, b); }
  AXLE_VECTOR_OP Floats larger_float(Floats a, Floats b) { return _mm_max_ps(a, b); }
  AXLE_VECTOR_OP Floats smaller_float(Floats a, Floats b) { return _mm_min_ps(a, b); }
  AXLE_VECTOR_OP Floats as_floats(Ints v) { return _mm_castsi128_ps(v); }
  AXLE_VECTOR_OP Ints as_ints(Floats v) { return _mm_castps_si128(v); }
  AXLE_VECTOR_OP Ints round(Floats v) { return _mm_cvtps_epi32(v); }
  AXLE_VECTOR_OP Floats to_floats(Ints v) { return _mm_cvtepi32_ps(v); }

  AXLE_VECTOR_OP Ints zero() { return _mm_setzero_si128(); }
  AXLE_VECTOR_OP Ints broadcast_int(std::int32_t v) { return _mm_set1_epi32(v); }
  AXLE_VECTOR_OP Ints load_ints(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  AXLE_VECTOR_OP void store_ints(void* to, Ints v) {
    _mm_storeu_si128(static_cast<__m128i*>(to), v);
  }
  AXLE_VECTOR_OP Ints add(Ints a, Ints b) { return _mm_add_epi32(a, b); }
  AXLE_VECTOR_OP Ints subtract(Ints a, Ints b) { return _mm_sub_epi32(a, b); }
  AXLE_VECTOR_OP Ints bit_and(Ints a, Ints b) { return _mm_and_si128(a, b); }
  AXLE_VECTOR_OP Ints bit_xor(Ints a, Ints b) { return _mm_xor_si128(a, b); }
  AXLE_VECTOR_OP Ints largest(Ints a, Ints b) {
    const Ints greater = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(greater, a), _mm_andnot_si128(greater, b));
  }
  template <int bits>
  AXLE_VECTOR_OP Ints shift_left(Ints v) {
    return _mm_slli_epi32(v, bits);
  }
  AXLE_VECTOR_OP Ints spread_int8(const std::int8_t* from) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, from, 4);
    const __m128i bytes = _mm_cvtsi32_si128(four);
    const __m128i words = _mm_unpacklo_epi8(bytes, bytes);
    return _mm_srai_epi32(_mm_unpacklo_epi16(words, words), 24);
  }
  /// The exponent's bias is changed by an addition; subnormal numbers get the exponent of the
  /// smallest normal one, which is then subtracted.
  AXLE_VECTOR_OP Floats load_halves(const std::uint16_t* from) {
    const Ints halves =
        _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), zero());
    const Ints magnitude = _mm_and_si128(halves, broadcast_int(0x7fff));
    const Ints subnormal = _mm_cmpgt_epi32(broadcast_int(0x400), magnitude);
    const Ints special = _mm_cmpgt_epi32(magnitude, broadcast_int(0x7bff));
    Ints bits = _mm_add_epi32(_mm_slli_epi32(magnitude, 13), broadcast_int(112 << 23));
    bits = _mm_add_epi32(bits, _mm_and_si128(special, broadcast_int(112 << 23)));
    bits = _mm_add_epi32(bits, _mm_and_si128(subnormal, broadcast_int(1 << 23)));
    const Floats value =
        _mm_sub_ps(as_floats(bits), as_floats(_mm_and_si128(subnormal, broadcast_int(113 << 23))));
    return as_floats(_mm_or_si128(
        as_ints(value), _mm_slli_epi32(_mm_and_si128(halves, broadcast_int(0x8000)), 16)));
  }
  AXLE_VECTOR_OP Ints shift_left_8(Ints v) { return _mm_slli_epi32(v, 8); }
  AXLE_VECTOR_OP Ints shift_right_8(Ints v) { return _mm_srai_epi32(v, 8); }

  template <int count>
  AXLE_VECTOR_OP Ints shift_right(Ints v) {
    return _mm_srli_epi32(v, count);
  }
  template <int count>
  AXLE_VECTOR_OP Ints shift_right_signed(Ints v) {
    return _mm_srai_epi32(v, count);
  }
  AXLE_VECTOR_OP Ints multiply_int16(Ints a, Ints b) { return _mm_mullo_epi16(a, b); }
  AXLE_VECTOR_OP Ints subtract_bytes(Ints a, Ints b) { return _mm_sub_epi8(a, b); }
  AXLE_VECTOR_OP Ints spread_bytes(const std::uint8_t* from) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, from, 4);
    const __m128i once = _mm_cvtsi32_si128(four);
    const __m128i twice = _mm_unpacklo_epi8(once, once);
    return _mm_unpacklo_epi16(twice, twice);
  }
  AXLE_VECTOR_OP Floats load_bfloat16(const std::uint16_t* from) {
    const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), four));
  }
  AXLE_VECTOR_OP Ints sum_neighbours(Ints a, Ints b) {
    const __m128 x = _mm_castsi128_ps(a);
    const __m128 y = _mm_castsi128_ps(b);
    return _mm_add_epi32(_mm_castps_si128(_mm_shuffle_ps(x, y, _MM_SHUFFLE(2, 0, 2, 0))),
                         _mm_castps_si128(_mm_shuffle_ps(x, y, _MM_SHUFFLE(3, 1, 3, 1))));
  }

  AXLE_VECTOR_OP void store_int16(std::int16_t* to, Ints v) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi32(v, v));
  }
  AXLE_VECTOR_OP void store_int8(std::int8_t* to, Ints v) {
    const __m128i words = _mm_packs_epi32(v, v);
    const std::int32_t four = _mm_cvtsi128_si32(_mm_packs_epi16(words, words));
    __builtin_memcpy(to, &four, 4);
  }

  AXLE_VECTOR_OP Ints widen(const std::int8_t* from) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm_srai_epi16(_mm_unpacklo_epi8(eight, eight), 8);
  }
  AXLE_VECTOR_OP Ints broadcast_four_int16(const std::int16_t* from) {
    const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm_unpacklo_epi64(four, four);
  }
  AXLE_VECTOR_OP Ints add_pairs_multiplied(Ints sums, Ints a, Ints b) {
    return _mm_add_epi32(sums, _mm_madd_epi16(a, b));
  }
  /// Sums of neighbouring lanes, written as half as many ints; added to what is there unless
  /// `first`.
  AXLE_VECTOR_OP void store_neighbour_sums(std::int32_t* to, Ints v, bool first) {
    const __m128i sums = _mm_add_epi32(v, _mm_shuffle_epi32(v, _MM_SHUFFLE(2, 3, 0, 1)));
    __m128i two = _mm_shuffle_epi32(sums, _MM_SHUFFLE(2, 0, 2, 0));
    __m128i* const place = reinterpret_cast<__m128i*>(to);
    if (!first) two = _mm_add_epi32(two, _mm_loadl_epi64(place));
    _mm_storel_epi64(place, two);
  }
};

}  // namespace
}  // namespace axle::runtime

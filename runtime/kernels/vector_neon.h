#pragma once
// Advanced SIMD, which every aarch64 CPU that runs Linux has: 16-byte vectors. vector_portable.h
// says what each operation means. A kernel file may define AXLE_VECTOR_TARGET first to add what it
// needs beyond Armv8.0.

#include <cstddef>
#include <cstdint>

#include <arm_neon.h>

#define AXLE_VECTOR_HAS_SIGNED_HALVES
#ifdef AXLE_VECTOR_TARGET
#define AXLE_TARGET [[gnu::target(AXLE_VECTOR_TARGET)]]
#define AXLE_VECTOR_OP [[gnu::target(AXLE_VECTOR_TARGET), gnu::always_inline]] static inline
#else
#define AXLE_TARGET
#define AXLE_VECTOR_OP [[gnu::always_inline]] static inline
#endif

namespace axle::runtime {
namespace {

struct Vector {
  using Floats = float32x4_t;
  using Ints = int32x4_t;
  static constexpr int bytes = 16;
  static constexpr int registers = 32;

  AXLE_VECTOR_OP Floats load_floats(const float* from) { return vld1q_f32(from); }
  AXLE_VECTOR_OP void store_floats(float* to, Floats v) { vst1q_f32(to, v); }
  AXLE_VECTOR_OP Floats broadcast_float(float v) { return vdupq_n_f32(v); }
  AXLE_VECTOR_OP Floats multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
  AXLE_VECTOR_OP Floats add_floats(Floats a, Floats b) { return vaddq_f32(a, b); }
  AXLE_VECTOR_OP Floats subtract_floats(Floats a, Floats b) { return vsubq_f32(a, b); }
  AXLE_VECTOR_OP Floats divide(Floats a, Floats b) { return vdivq_f32(a, b); }
  /// By a comparison: FMAX gives a NaN where one is, MAXPS gives b.
  AXLE_VECTOR_OP Floats larger_float(Floats a, Floats b) {
    return vbslq_f32(vcgtq_f32(a, b), a, b);
  }
  AXLE_VECTOR_OP Floats smaller_float(Floats a, Floats b) {
    return vbslq_f32(vcltq_f32(a, b), a, b);
  }
  AXLE_VECTOR_OP Floats as_floats(Ints v) { return vreinterpretq_f32_s32(v); }
  AXLE_VECTOR_OP Ints as_ints(Floats v) { return vreinterpretq_s32_f32(v); }
  AXLE_VECTOR_OP Ints round(Floats v) { return vcvtnq_s32_f32(v); }
  AXLE_VECTOR_OP Floats to_floats(Ints v) { return vcvtq_f32_s32(v); }

  AXLE_VECTOR_OP Ints zero() { return vdupq_n_s32(0); }
  AXLE_VECTOR_OP Ints broadcast_int(std::int32_t v) { return vdupq_n_s32(v); }
  AXLE_VECTOR_OP Ints load_ints(const void* from) {
    return vreinterpretq_s32_u8(vld1q_u8(static_cast<const std::uint8_t*>(from)));
  }
  AXLE_VECTOR_OP void store_ints(void* to, Ints v) {
    vst1q_u8(static_cast<std::uint8_t*>(to), vreinterpretq_u8_s32(v));
  }
  AXLE_VECTOR_OP Ints add(Ints a, Ints b) { return vaddq_s32(a, b); }
  AXLE_VECTOR_OP Ints subtract(Ints a, Ints b) { return vsubq_s32(a, b); }
  AXLE_VECTOR_OP Ints bit_and(Ints a, Ints b) { return vandq_s32(a, b); }
  AXLE_VECTOR_OP Ints bit_xor(Ints a, Ints b) { return veorq_s32(a, b); }
  AXLE_VECTOR_OP Ints largest(Ints a, Ints b) { return vmaxq_s32(a, b); }
  template <int bits>
  AXLE_VECTOR_OP Ints shift_left(Ints v) {
    return vshlq_n_s32(v, bits);
  }
  AXLE_VECTOR_OP Ints shift_left_8(Ints v) { return vshlq_n_s32(v, 8); }
  AXLE_VECTOR_OP Ints shift_right_8(Ints v) { return vshrq_n_s32(v, 8); }
  template <int count>
  AXLE_VECTOR_OP Ints shift_right(Ints v) {
    return vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(v), count));
  }
  template <int count>
  AXLE_VECTOR_OP Ints shift_right_signed(Ints v) {
    return vshrq_n_s32(v, count);
  }
  AXLE_VECTOR_OP Ints multiply_int16(Ints a, Ints b) {
    return vreinterpretq_s32_s16(vmulq_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b)));
  }
  AXLE_VECTOR_OP Ints subtract_bytes(Ints a, Ints b) {
    return vreinterpretq_s32_s8(vsubq_s8(vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b)));
  }
  AXLE_VECTOR_OP Ints spread_bytes(const std::uint8_t* from) {
    const uint8x8_t once = vreinterpret_u8_u32(vdup_n_u32(four_bytes(from)));
    const uint8x8_t twice = vzip1_u8(once, once);
    return vreinterpretq_s32_u8(vcombine_u8(vzip1_u8(twice, twice), vzip2_u8(twice, twice)));
  }
  AXLE_VECTOR_OP Floats load_bfloat16(const std::uint16_t* from) {
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(from), 16));
  }
  AXLE_VECTOR_OP Ints spread_int8(const std::int8_t* from) {
    return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four_bytes(from))))));
  }
  AXLE_VECTOR_OP Floats load_halves(const std::uint16_t* from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  }

  AXLE_VECTOR_OP void store_int16(std::int16_t* to, Ints v) { vst1_s16(to, vqmovn_s32(v)); }
  AXLE_VECTOR_OP void store_int8(std::int8_t* to, Ints v) {
    const int16x4_t words = vqmovn_s32(v);
    const std::uint32_t four =
        vget_lane_u32(vreinterpret_u32_s8(vqmovn_s16(vcombine_s16(words, words))), 0);
    __builtin_memcpy(to, &four, 4);
  }

  AXLE_VECTOR_OP std::uint32_t four_bytes(const void* from) {
    std::uint32_t four = 0;
    __builtin_memcpy(&four, from, 4);
    return four;
  }
  AXLE_VECTOR_OP Ints broadcast_four_int8(const std::int8_t* from) {
    return vreinterpretq_s32_u32(vdupq_n_u32(four_bytes(from)));
  }
  AXLE_VECTOR_OP Ints load_half(const std::int8_t* from) {
    const int8x8_t half = vld1_s8(from);
    return vreinterpretq_s32_s8(vcombine_s8(half, half));
  }
  AXLE_VECTOR_OP Ints half_products(Ints a, Ints b) {
    return vreinterpretq_s32_s16(
        vmull_s8(vget_low_s8(vreinterpretq_s8_s32(a)), vget_low_s8(vreinterpretq_s8_s32(b))));
  }
  AXLE_VECTOR_OP Ints add_half_products(Ints sums, Ints a, Ints b) {
    return vreinterpretq_s32_s16(vmlal_s8(vreinterpretq_s16_s32(sums),
                                          vget_low_s8(vreinterpretq_s8_s32(a)),
                                          vget_low_s8(vreinterpretq_s8_s32(b))));
  }
  AXLE_VECTOR_OP Ints add_pairs(Ints sums, Ints v) {
    return vpadalq_s16(sums, vreinterpretq_s16_s32(v));
  }
  AXLE_VECTOR_OP Ints sum_neighbours(Ints a, Ints b) { return vpaddq_s32(a, b); }
  AXLE_VECTOR_OP void store_neighbour_sums(std::int32_t* to, Ints v, bool first) {
    int32x2_t two = vpadd_s32(vget_low_s32(v), vget_high_s32(v));
    if (!first) two = vadd_s32(two, vld1_s32(to));
    vst1_s32(to, two);
  }
#ifdef AXLE_VECTOR_HAS_SIGNED_DOT
  AXLE_VECTOR_OP Ints add_signed_dot(Ints sums, Ints a, Ints b) {
    return vdotq_s32(sums, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
  }
#endif
#ifdef AXLE_VECTOR_HAS_MATRIX
  AXLE_VECTOR_OP Ints zip_low(Ints a, Ints b) { return vzip1q_s32(a, b); }
  AXLE_VECTOR_OP Ints zip_high(Ints a, Ints b) { return vzip2q_s32(a, b); }
  AXLE_VECTOR_OP Ints load_halves_of(const std::int8_t* low, const std::int8_t* high) {
    return vreinterpretq_s32_s8(vcombine_s8(vld1_s8(low), vld1_s8(high)));
  }
  AXLE_VECTOR_OP void store_halves(std::int32_t* low, std::int32_t* high, Ints v) {
    vst1_s32(low, vget_low_s32(v));
    vst1_s32(high, vget_high_s32(v));
  }
  AXLE_VECTOR_OP Ints add_matrix(Ints sums, Ints a, Ints b) {
    return vmmlaq_s32(sums, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b));
  }
#endif
};

}  // namespace
}  // namespace axle::runtime

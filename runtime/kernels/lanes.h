#pragma once
// Sixteen floats at a time over `Vector` (a vector header must be included first): the same sums
// in the same order at every vector width.

#include <cstddef>
#include <cstdint>

namespace axle::runtime {
namespace {

#if defined(AXLE_UNROLL)
// The vector header has said it.
#elif defined(__clang__)
#define AXLE_UNROLL _Pragma("unroll")
#else
#define AXLE_UNROLL _Pragma("GCC unroll 16")
#endif

/// A loop that must stay one: unrolled, its loads are hoisted and its sums spilled.
#if defined(__clang__)
#define AXLE_ROLLED _Pragma("nounroll")
#else
#define AXLE_ROLLED _Pragma("GCC unroll 1")
#endif

inline constexpr std::size_t lane_count = 16;

struct Lanes {
  static constexpr int parts = static_cast<int>(lane_count * 4) / Vector::bytes;
  static constexpr int lanes_a_part = Vector::bytes / 4;

  Vector::Floats part[parts];

  AXLE_VECTOR_OP Lanes filled(float value) {
    Lanes v;
    AXLE_UNROLL
    for (int i = 0; i < parts; ++i) v.part[i] = Vector::broadcast_float(value);
    return v;
  }
  AXLE_VECTOR_OP Lanes load(const float* from) {
    Lanes v;
    AXLE_UNROLL
    for (int i = 0; i < parts; ++i) v.part[i] = Vector::load_floats(from + i * lanes_a_part);
    return v;
  }
  AXLE_VECTOR_OP Lanes load(const std::uint16_t* halves) {
    Lanes v;
    AXLE_UNROLL
    for (int i = 0; i < parts; ++i) v.part[i] = Vector::load_halves(halves + i * lanes_a_part);
    return v;
  }
  AXLE_VECTOR_OP Lanes load(const std::int8_t* from) {
    Lanes v;
    AXLE_UNROLL
    for (int i = 0; i < parts; ++i)
      v.part[i] = Vector::to_floats(Vector::spread_int8(from + i * lanes_a_part));
    return v;
  }
  AXLE_VECTOR_OP void store(float* to, Lanes v) {
    AXLE_UNROLL
    for (int i = 0; i < parts; ++i) Vector::store_floats(to + i * lanes_a_part, v.part[i]);
  }

#define AXLE_LANES_OP(name, operation)                                                   \
  AXLE_VECTOR_OP Lanes name(Lanes a, Lanes b) {                                          \
    AXLE_UNROLL                                                                          \
    for (int i = 0; i < parts; ++i) a.part[i] = Vector::operation(a.part[i], b.part[i]); \
    return a;                                                                            \
  }
  AXLE_LANES_OP(add, add_floats)
  AXLE_LANES_OP(subtract, subtract_floats)
  AXLE_LANES_OP(multiply, multiply)
  AXLE_LANES_OP(divide, divide)
  AXLE_LANES_OP(larger, larger_float)
  AXLE_LANES_OP(smaller, smaller_float)
#undef AXLE_LANES_OP

  AXLE_VECTOR_OP Lanes magnitude(Lanes v) {
    AXLE_UNROLL
    for (int i = 0; i < parts; ++i)
      v.part[i] = Vector::as_floats(
          Vector::bit_and(Vector::as_ints(v.part[i]), Vector::broadcast_int(0x7fffffff)));
    return v;
  }
  /// `v`, which is not negative, with the sign of `of`.
  AXLE_VECTOR_OP Lanes with_sign_of(Lanes v, Lanes of) {
    AXLE_UNROLL
    for (int i = 0; i < parts; ++i)
      v.part[i] = Vector::as_floats(Vector::bit_xor(
          Vector::as_ints(v.part[i]),
          Vector::bit_and(Vector::as_ints(of.part[i]), Vector::broadcast_int(INT32_MIN))));
    return v;
  }

  /// Lane i and i + 8, then i + 4, i + 2, i + 1.
  AXLE_VECTOR_OP float sum(Lanes v) {
    alignas(64) float lane[lane_count];
    store(lane, v);
    AXLE_UNROLL
    for (std::size_t step = lane_count / 2; step > 0; step /= 2) {
      for (std::size_t i = 0; i < step; ++i) lane[i] += lane[i + step];
    }
    return lane[0];
  }
  AXLE_VECTOR_OP float largest(Lanes v) {
    alignas(64) float lane[lane_count];
    store(lane, v);
    float most = lane[0];
    for (std::size_t i = 1; i < lane_count; ++i) most = lane[i] > most ? lane[i] : most;
    return most;
  }
};

/// exp(x) to 1e-7 of its value for x in [-80, 88], and that of the nearest end outside: with
/// x = n ln 2 + r, 2^n times a polynomial in r (the coefficients of Cephes' expf).
AXLE_VECTOR_OP Vector::Floats exponential(Vector::Floats x) {
  x = Vector::larger_float(x, Vector::broadcast_float(-80.0F));
  x = Vector::smaller_float(x, Vector::broadcast_float(88.0F));
  const Vector::Ints n = Vector::round(Vector::multiply(x, Vector::broadcast_float(1.44269504F)));
  const Vector::Floats whole = Vector::to_floats(n);
  Vector::Floats r =
      Vector::subtract_floats(x, Vector::multiply(whole, Vector::broadcast_float(0.693359375F)));
  r = Vector::subtract_floats(r, Vector::multiply(whole, Vector::broadcast_float(-2.12194440e-4F)));
  constexpr float coefficients[] = {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F,
                                    1.6666665459e-1F, 5.0000001201e-1F};
  Vector::Floats p = Vector::broadcast_float(1.9875691500e-4F);
  AXLE_UNROLL
  for (const float coefficient : coefficients)
    p = Vector::add_floats(Vector::multiply(p, r), Vector::broadcast_float(coefficient));
  p = Vector::add_floats(Vector::multiply(p, Vector::multiply(r, r)), r);
  p = Vector::add_floats(p, Vector::broadcast_float(1.0F));
  return Vector::as_floats(Vector::add(Vector::as_ints(p), Vector::shift_left<23>(n)));
}

AXLE_VECTOR_OP Lanes exponential(Lanes x) {
  AXLE_UNROLL
  for (int i = 0; i < Lanes::parts; ++i) x.part[i] = exponential(x.part[i]);
  return x;
}

}  // namespace
}  // namespace axle::runtime

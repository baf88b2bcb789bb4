#pragma once
// Vectors in plain C++: what each operation means, at any width. The baseline of architectures
// without a header of their own; and in tests the model of all others, so that the steps written
// over vectors are tested at every width on every machine. AXLE_VECTOR_BYTES: 16, 32 or 64.

#include <cstddef>
#include <cstdint>

#ifndef AXLE_VECTOR_BYTES
#define AXLE_VECTOR_BYTES 16
#endif

#define AXLE_TARGET
/// Nothing is gained by unrolling these, and compilers take minutes.
#define AXLE_UNROLL
#define AXLE_VECTOR_OP static inline
#define AXLE_VECTOR_HAS_DOT
#define AXLE_VECTOR_HAS_SIGNED_DOT
#define AXLE_VECTOR_HAS_SIGNED_HALVES
#define AXLE_VECTOR_HAS_NEIGHBOUR_SUMS
#define AXLE_VECTOR_HAS_BYTE_PRODUCTS

namespace axle::runtime {
namespace {

struct Vector {
  static constexpr int bytes = AXLE_VECTOR_BYTES;
  static constexpr int registers = bytes == 64 ? 32 : 16;
  static constexpr std::size_t lanes = bytes / 4;

  struct Floats {
    float lane[lanes];
  };
  struct Ints {
    std::int32_t lane[lanes];
  };

  template <class To, class Operation>
  static To each(Operation operation) {
    To result;
    for (std::size_t i = 0; i < lanes; ++i) result.lane[i] = operation(i);
    return result;
  }
  static std::int32_t wrap(std::int64_t v) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(v));
  }
  template <class T, std::size_t N>
  static void take_apart(const Ints& v, T (&parts)[N]) {
    static_assert(sizeof parts == sizeof v);
    __builtin_memcpy(parts, &v, sizeof v);
  }

  static Floats load_floats(const float* from) {
    return each<Floats>([&](std::size_t i) { return from[i]; });
  }
  static void store_floats(float* to, Floats v) { __builtin_memcpy(to, &v, sizeof v); }
  static Floats broadcast_float(float v) {
    return each<Floats>([&](std::size_t) { return v; });
  }
  static Floats multiply(Floats a, Floats b) {
    return each<Floats>([&](std::size_t i) { return a.lane[i] * b.lane[i]; });
  }
  static Floats add_floats(Floats a, Floats b) {
    return each<Floats>([&](std::size_t i) { return a.lane[i] + b.lane[i]; });
  }
  static Floats subtract_floats(Floats a, Floats b) {
    return each<Floats>([&](std::size_t i) { return a.lane[i] - b.lane[i]; });
  }
  static Floats divide(Floats a, Floats b) {
    return each<Floats>([&](std::size_t i) { return a.lane[i] / b.lane[i]; });
  }
  /// b where one is a NaN, as MAXPS and MINPS have it.
  static Floats larger_float(Floats a, Floats b) {
    return each<Floats>(
        [&](std::size_t i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Floats smaller_float(Floats a, Floats b) {
    return each<Floats>(
        [&](std::size_t i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Floats as_floats(Ints v) {
    Floats same;
    __builtin_memcpy(&same, &v, sizeof v);
    return same;
  }
  static Ints as_ints(Floats v) {
    Ints same;
    __builtin_memcpy(&same, &v, sizeof v);
    return same;
  }
  /// To the nearest, ties to even, for |v| < 2^22: beyond 1.5 * 2^23 a float has no fraction.
  static Ints round(Floats v) {
    return each<Ints>([&](std::size_t i) {
      const float shifted = v.lane[i] + 12582912.0F;
      return static_cast<std::int32_t>(shifted - 12582912.0F);
    });
  }
  static Floats to_floats(Ints v) {
    return each<Floats>([&](std::size_t i) { return static_cast<float>(v.lane[i]); });
  }

  static Ints zero() { return broadcast_int(0); }
  static Ints broadcast_int(std::int32_t v) {
    return each<Ints>([&](std::size_t) { return v; });
  }
  static Ints load_ints(const void* from) {
    Ints v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  static void store_ints(void* to, Ints v) { __builtin_memcpy(to, &v, sizeof v); }
  static Ints add(Ints a, Ints b) {
    return each<Ints>([&](std::size_t i) { return wrap(std::int64_t{a.lane[i]} + b.lane[i]); });
  }
  static Ints subtract(Ints a, Ints b) {
    return each<Ints>([&](std::size_t i) { return wrap(std::int64_t{a.lane[i]} - b.lane[i]); });
  }
  static Ints bit_and(Ints a, Ints b) {
    return each<Ints>([&](std::size_t i) { return a.lane[i] & b.lane[i]; });
  }
  static Ints bit_xor(Ints a, Ints b) {
    return each<Ints>([&](std::size_t i) { return a.lane[i] ^ b.lane[i]; });
  }
  static Ints largest(Ints a, Ints b) {
    return each<Ints>([&](std::size_t i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
  }
  static Ints shift_left_8(Ints v) {
    return each<Ints>([&](std::size_t i) { return wrap(std::int64_t{v.lane[i]} * 256); });
  }
  template <int bits>
  static Ints shift_left(Ints v) {
    return each<Ints>([&](std::size_t i) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(v.lane[i]) << bits);
    });
  }
  static Ints shift_right_8(Ints v) {
    return each<Ints>([&](std::size_t i) { return v.lane[i] >> 8; });
  }

  template <int count>
  static Ints shift_right(Ints v) {
    return each<Ints>(
        [&](std::size_t i) { return wrap(static_cast<std::uint32_t>(v.lane[i]) >> count); });
  }
  template <int count>
  static Ints shift_right_signed(Ints v) {
    return each<Ints>([&](std::size_t i) { return v.lane[i] >> count; });
  }
  /// (v & mask) ^ flip.
  static Ints and_xor(Ints v, Ints mask, Ints flip) { return bit_xor(bit_and(v, mask), flip); }
  /// The lower 16 bits of the products of 16-bit integers.
  static Ints multiply_int16(Ints a, Ints b) {
    std::uint16_t x[bytes / 2];
    std::uint16_t y[bytes / 2];
    take_apart(a, x);
    take_apart(b, y);
    for (std::size_t i = 0; i < bytes / 2; ++i)
      x[i] = static_cast<std::uint16_t>(std::uint32_t{x[i]} * y[i]);
    return load_ints(x);
  }
  static Ints subtract_bytes(Ints a, Ints b) {
    std::uint8_t x[bytes];
    std::uint8_t y[bytes];
    take_apart(a, x);
    take_apart(b, y);
    for (std::size_t i = 0; i < bytes; ++i) x[i] = static_cast<std::uint8_t>(x[i] - y[i]);
    return load_ints(x);
  }
  /// Each of bytes / 4 bytes four times.
  static Ints spread_bytes(const std::uint8_t* from) {
    std::uint8_t spread[bytes];
    for (std::size_t i = 0; i < bytes; ++i) spread[i] = from[i / 4];
    return load_ints(spread);
  }
  static Floats load_bfloat16(const std::uint16_t* from) {
    return as_floats(
        each<Ints>([&](std::size_t i) { return wrap(std::int64_t{from[i]} * 65536); }));
  }
  /// The sums of neighbouring lanes, those of `a` first.
  static Ints sum_neighbours(Ints a, Ints b) {
    return each<Ints>([&](std::size_t i) {
      const Ints& v = i < lanes / 2 ? a : b;
      const std::size_t j = 2 * (i % (lanes / 2));
      return wrap(std::int64_t{v.lane[j]} + v.lane[j + 1]);
    });
  }
  /// PMADDUBSW: products of bytes, neighbours added with saturation to int16.
  static Ints multiply_bytes(Ints unsigned_bytes, Ints signed_bytes) {
    std::uint8_t x[bytes];
    std::int8_t y[bytes];
    take_apart(unsigned_bytes, x);
    take_apart(signed_bytes, y);
    std::int16_t sums[bytes / 2];
    for (std::size_t i = 0; i < bytes / 2; ++i) {
      const int sum = x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
      sums[i] = static_cast<std::int16_t>(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
    }
    return load_ints(sums);
  }
  static Ints add_int16(Ints a, Ints b) {
    std::uint16_t x[bytes / 2];
    std::uint16_t y[bytes / 2];
    take_apart(a, x);
    take_apart(b, y);
    for (std::size_t i = 0; i < bytes / 2; ++i) x[i] = static_cast<std::uint16_t>(x[i] + y[i]);
    return load_ints(x);
  }

  /// The kernels store values that fit; what a real store does beyond that differs by width.
  static void store_int16(std::int16_t* to, Ints v) {
    for (std::size_t i = 0; i < lanes; ++i) to[i] = static_cast<std::int16_t>(v.lane[i]);
  }
  static void store_int8(std::int8_t* to, Ints v) {
    for (std::size_t i = 0; i < lanes; ++i) to[i] = static_cast<std::int8_t>(v.lane[i]);
  }

  /// As many numbers as there are lanes.
  static Ints spread_int8(const std::int8_t* from) {
    return each<Ints>([&](std::size_t i) { return static_cast<std::int32_t>(from[i]); });
  }
  /// IEEE 754 binary16, exact.
  static Floats load_halves(const std::uint16_t* from) {
    return each<Floats>([&](std::size_t i) {
      const std::uint32_t magnitude = from[i] & 0x7fffU;
      std::uint32_t bits = (magnitude << 13U) + (magnitude < 0x400 ? 113U << 23U : 112U << 23U);
      if (magnitude >= 0x7c00) bits += 112U << 23U;
      float value = 0;
      __builtin_memcpy(&value, &bits, sizeof value);
      if (magnitude < 0x400) value -= 0x1p-14F;
      return (from[i] & 0x8000U) != 0 ? -value : value;
    });
  }

  /// bytes / 2 int8 to as many int16.
  static Ints widen(const std::int8_t* from) {
    std::int16_t wide[bytes / 2];
    for (std::size_t i = 0; i < bytes / 2; ++i)
      wide[i] = static_cast<std::int16_t>(std::int32_t{from[i]});
    return load_ints(wide);
  }
  static Ints broadcast_four_int16(const std::int16_t* from) {
    std::int16_t four[bytes / 2];
    for (std::size_t i = 0; i < bytes / 2; ++i) four[i] = from[i % 4];
    return load_ints(four);
  }
  /// PMADDWD and an addition.
  static Ints add_pairs_multiplied(Ints sums, Ints a, Ints b) {
    std::int16_t x[bytes / 2];
    std::int16_t y[bytes / 2];
    take_apart(a, x);
    take_apart(b, y);
    return each<Ints>([&](std::size_t i) {
      return wrap(std::int64_t{sums.lane[i]} + x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1]);
    });
  }
  static void store_neighbour_sums(std::int32_t* to, Ints v, bool first) {
    for (std::size_t i = 0; i < lanes / 2; ++i)
      to[i] = wrap((first ? 0 : std::int64_t{to[i]}) + v.lane[2 * i] + v.lane[2 * i + 1]);
  }

  static Ints broadcast_four_bytes(const std::uint8_t* from) {
    std::uint8_t four[bytes];
    for (std::size_t i = 0; i < bytes; ++i) four[i] = from[i % 4];
    return load_ints(four);
  }

  static Ints broadcast_four_int8(const std::int8_t* from) {
    return broadcast_four_bytes(reinterpret_cast<const std::uint8_t*>(from));
  }
  /// bytes / 2 int8 in the lower half; what is in the other one does not matter.
  static Ints load_half(const std::int8_t* from) {
    Ints v = zero();
    __builtin_memcpy(&v, from, bytes / 2);
    return v;
  }
  /// Of the lower halves: products of int8 to int16 (SMULL), added to `sums` (SMLAL).
  static Ints add_half_products(Ints sums, Ints a, Ints b) {
    std::int8_t x[bytes];
    std::int8_t y[bytes];
    std::int16_t total[bytes / 2];
    take_apart(a, x);
    take_apart(b, y);
    take_apart(sums, total);
    for (std::size_t i = 0; i < bytes / 2; ++i)
      total[i] = static_cast<std::int16_t>(total[i] + x[i] * y[i]);
    return load_ints(total);
  }
  static Ints half_products(Ints a, Ints b) { return add_half_products(zero(), a, b); }
  /// SADALP: neighbouring int16 of `v` added to an int32.
  static Ints add_pairs(Ints sums, Ints v) {
    return add_pairs_multiplied(sums, v, broadcast_int(0x00010001));
  }
  /// SDOT.
  static Ints add_signed_dot(Ints sums, Ints a, Ints b) {
    std::int8_t x[bytes];
    std::int8_t y[bytes];
    take_apart(a, x);
    take_apart(b, y);
    return each<Ints>([&](std::size_t i) {
      std::int64_t sum = sums.lane[i];
      for (std::size_t j = 4 * i; j < 4 * i + 4; ++j) sum += x[j] * y[j];
      return wrap(sum);
    });
  }
#if AXLE_VECTOR_BYTES == 16
#define AXLE_VECTOR_HAS_MATRIX
  static Ints zip_low(Ints a, Ints b) { return {a.lane[0], b.lane[0], a.lane[1], b.lane[1]}; }
  static Ints zip_high(Ints a, Ints b) { return {a.lane[2], b.lane[2], a.lane[3], b.lane[3]}; }
  static Ints load_halves_of(const std::int8_t* low, const std::int8_t* high) {
    std::int8_t both[bytes];
    __builtin_memcpy(both, low, 8);
    __builtin_memcpy(both + 8, high, 8);
    return load_ints(both);
  }
  static void store_halves(std::int32_t* low, std::int32_t* high, Ints v) {
    __builtin_memcpy(low, v.lane, 8);
    __builtin_memcpy(high, v.lane + 2, 8);
  }
  /// SMMLA: a 2 x 8 matrix times the transpose of another, row by row.
  static Ints add_matrix(Ints sums, Ints a, Ints b) {
    std::int8_t x[bytes];
    std::int8_t y[bytes];
    take_apart(a, x);
    take_apart(b, y);
    return each<Ints>([&](std::size_t i) {
      std::int64_t sum = sums.lane[i];
      for (std::size_t k = 0; k < 8; ++k) sum += x[i / 2 * 8 + k] * y[i % 2 * 8 + k];
      return wrap(sum);
    });
  }
#endif

  /// VPDPBUSD: no saturation, modulo 2^32.
  static Ints add_dot(Ints sums, Ints unsigned_bytes, Ints signed_bytes) {
    std::uint8_t x[bytes];
    std::int8_t y[bytes];
    take_apart(unsigned_bytes, x);
    take_apart(signed_bytes, y);
    return each<Ints>([&](std::size_t i) {
      std::int64_t sum = sums.lane[i];
      for (std::size_t j = 4 * i; j < 4 * i + 4; ++j) sum += x[j] * y[j];
      return wrap(sum);
    });
  }
};

}  // namespace
}  // namespace axle::runtime

#pragma once
// Integer products of int8 with int8, and with 4-bit weights as int8: Advanced SIMD with and
// without SDOT. float_steps.h comes first.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"
#include "runtime/kernels/multiply.h"
#include "runtime/kernels/narrow_steps.h"

namespace axle::runtime {
namespace {

#ifdef AXLE_VECTOR_HAS_SIGNED_HALVES
/// Products in int16, of which two neighbours are added to an int32: Armv8.0.
struct BytePairProduct {
  using Activation = std::int8_t;
  static constexpr int most_rows = 6;
  static constexpr std::size_t most_scaled_rows = 0;
  static constexpr std::size_t weight_bytes = Vector::bytes / 2;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints start(const Activation* /*row*/, std::size_t /*row_stride*/,
                                    const std::int32_t* /*correction*/) {
    return Vector::zero();
  }
  AXLE_VECTOR_OP Vector::Ints resume(const std::int32_t* /*sums*/) { return Vector::zero(); }
  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::load_half(from); }
  AXLE_VECTOR_OP Vector::Ints activations(const Activation* from) {
    return Vector::broadcast_four_int8(from);
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_pairs(sums, Vector::half_products(activation, weight));
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, bool first) {
    Vector::store_neighbour_sums(to, v, first);
  }
};

/// Half a slab of 4-bit weights: eight products of at most 15 * 128 fit int16.
struct W4SignedHalves {
  using Activation = std::int8_t;
  static constexpr std::size_t weight_bytes = Vector::bytes / 2;
  static constexpr int lanes_a_column = 2;

  template <bool high>
  AXLE_VECTOR_OP Vector::Ints weights(const std::uint8_t* from) {
    return halves_of_bytes<high>(Vector::load_half(reinterpret_cast<const std::int8_t*>(from)));
  }
  AXLE_VECTOR_OP Vector::Ints activations(const std::int8_t* from) {
    return Vector::broadcast_four_int8(from);
  }
  AXLE_VECTOR_OP Vector::Ints start(Vector::Ints /*total*/) { return Vector::zero(); }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_half_products(sums, activation, weight);
  }
  AXLE_VECTOR_OP Vector::Ints end(Vector::Ints total, Vector::Ints sums) {
    return Vector::add_pairs(total, sums);
  }
  AXLE_VECTOR_OP Vector::Ints column_sums(const Vector::Ints* total) {
    return Vector::sum_neighbours(total[0], total[1]);
  }
};
#endif

#ifdef AXLE_VECTOR_HAS_SIGNED_DOT
/// SDOT: four products are added to an int32.
struct SignedDotProduct {
  using Activation = std::int8_t;
  static constexpr int most_rows = 6;
  static constexpr std::size_t most_scaled_rows = 16;  ///< as SignProduct; not measured
  static constexpr std::size_t weight_bytes = Vector::bytes;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints start(const Activation* /*row*/, std::size_t /*row_stride*/,
                                    const std::int32_t* /*correction*/) {
    return Vector::zero();
  }
  AXLE_VECTOR_OP Vector::Ints resume(const std::int32_t* sums) { return Vector::load_ints(sums); }
  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::load_ints(from); }
  AXLE_VECTOR_OP Vector::Ints activations(const Activation* from) {
    return Vector::broadcast_four_int8(from);
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_signed_dot(sums, activation, weight);
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, bool /*first*/) {
    Vector::store_ints(to, v);
  }
};

struct W4SignedDot {
  using Activation = std::int8_t;
  static constexpr std::size_t weight_bytes = Vector::bytes;
  static constexpr int lanes_a_column = 1;

  template <bool high>
  AXLE_VECTOR_OP Vector::Ints weights(const std::uint8_t* from) {
    return halves_of_bytes<high>(Vector::load_ints(from));
  }
  AXLE_VECTOR_OP Vector::Ints activations(const std::int8_t* from) {
    return Vector::broadcast_four_int8(from);
  }
  AXLE_VECTOR_OP Vector::Ints start(Vector::Ints total) { return total; }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_signed_dot(sums, activation, weight);
  }
  AXLE_VECTOR_OP Vector::Ints end(Vector::Ints /*total*/, Vector::Ints sums) { return sums; }
  AXLE_VECTOR_OP Vector::Ints column_sums(const Vector::Ints* total) { return *total; }
};
#endif

}  // namespace
}  // namespace axle::runtime

#pragma once
// Integer products of int8 with int8: Advanced SIMD with and without SDOT.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"
#include "runtime/kernels/multiply.h"

namespace axle::runtime {
namespace {

/// Products in int16, of which two neighbours are added to an int32: Armv8.0.
struct BytePairProduct {
  using Activation = std::int8_t;
  static constexpr int most_rows = 6;
  static constexpr std::size_t weight_bytes = Vector::bytes / 2;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints start(const Activation* /*row*/, std::size_t /*row_stride*/,
                                    bool /*first*/) {
    return Vector::zero();
  }
  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::load_half(from); }
  AXLE_VECTOR_OP Vector::Ints activations(const Activation* from) {
    return Vector::broadcast_four_int8(from);
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_byte_pairs(sums, activation, weight);
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, const std::int32_t* /*correction*/,
                            bool first) {
    Vector::store_neighbour_sums(to, v, first);
  }
};

#ifdef AXLE_VECTOR_HAS_SIGNED_DOT
/// SDOT: four products are added to an int32.
struct SignedDotProduct {
  using Activation = std::int8_t;
  static constexpr int most_rows = 6;
  static constexpr std::size_t weight_bytes = Vector::bytes;
  static constexpr std::size_t columns = weight_bytes / step_depth;

  AXLE_VECTOR_OP Vector::Ints start(const Activation* /*row*/, std::size_t /*row_stride*/,
                                    bool /*first*/) {
    return Vector::zero();
  }
  AXLE_VECTOR_OP Vector::Ints weights(const std::int8_t* from) { return Vector::load_ints(from); }
  AXLE_VECTOR_OP Vector::Ints activations(const Activation* from) {
    return Vector::broadcast_four_int8(from);
  }
  AXLE_VECTOR_OP Vector::Ints add(Vector::Ints sums, Vector::Ints activation, Vector::Ints weight) {
    return Vector::add_signed_dot(sums, activation, weight);
  }
  AXLE_VECTOR_OP void store(std::int32_t* to, Vector::Ints v, const std::int32_t* /*correction*/,
                            bool first) {
    Vector::store_ints(to, first ? v : Vector::add(v, Vector::load_ints(to)));
  }
};
#endif

}  // namespace
}  // namespace axle::runtime

#pragma once
// float8 weights on AMX tiles of bfloat16: a piece of a column block is written as bfloat16, which
// is exact, and all rows pass over it while it is in L1.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"

namespace axle::runtime {
namespace {

/// How rows for float8 weights are stored: as bfloat16.
struct AsBfloat16 {
  AXLE_VECTOR_OP void store(void* to, std::size_t i, Vector::Floats v) {
    const Vector::Ints bits =
        Vector::as_ints(Vector::multiply(v, Vector::broadcast_float(0x1p-120F)));
    Vector::store_int16(static_cast<std::int16_t*>(to) + i, Vector::shift_right<16>(bits));
  }
};

inline constexpr std::size_t f8_piece_slabs = 4;  ///< of f8_depth k

/// Bytes `j` and `j + 1` of each lane as a pair of bfloat16.
template <int j>
AXLE_VECTOR_OP Vector::Ints f8_pair(Vector::Ints bytes) {
  const Vector::Floats whole = Vector::broadcast_float(0x1p120F);
  const Vector::Ints lower = Vector::as_ints(Vector::multiply(f8_weights<j>(bytes), whole));
  const Vector::Ints upper = Vector::as_ints(Vector::multiply(f8_weights<j + 1>(bytes), whole));
  return Vector::bit_xor(Vector::shift_right<16>(lower), upper);
}

/// `steps` of four k each: [steps][64][4] float8 to [2 * steps][64][2] bfloat16. As much of what is
/// behind them is asked for.
AXLE_TARGET void f8_to_bfloat16(const std::uint8_t* from, std::size_t steps, char* to) {
  Ahead ahead = ahead_in_turn(from, steps * step_bytes, steps, true);
  for (std::size_t step = 0; step < steps; ++step) {
    advance(ahead);
    for (std::size_t c = 0; c < step_bytes; c += Vector::bytes) {
      const Vector::Ints bytes = Vector::load_ints(from + c);
      Vector::store_ints(to + c, f8_pair<0>(bytes));
      Vector::store_ints(to + step_bytes + c, f8_pair<2>(bytes));
    }
    from += step_bytes;
    to += 2 * step_bytes;
  }
}

AXLE_TARGET void multiply_f8_tiles(const F8Product& product) {
  alignas(64) char piece[f8_piece_slabs * slab_bytes];
  const std::size_t slabs = product.depth / f8_depth;
  for (std::size_t slab = 0; slab < slabs; slab += f8_piece_slabs) {
    const std::size_t count = slabs - slab < f8_piece_slabs ? slabs - slab : f8_piece_slabs;
    f8_to_bfloat16(product.weights + slab * f8_depth * block_columns, count * f8_depth / step_depth,
                   piece);
    Ahead nothing{};
    row_tiles<TileProduct::bfloat16>(
        {.weights = piece,
         .activations = static_cast<const char*>(product.activations) + slab * tile_row_bytes,
         .row_bytes = product.row_bytes,
         .slabs = count,
         .sums = product.sums,
         .first = slab == 0},
        product.rows, nothing);
  }
}

}  // namespace
}  // namespace axle::runtime

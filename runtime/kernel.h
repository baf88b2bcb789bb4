#pragma once
// What a kernel set is: plain data and function pointers. Kernel files include this header and
// nothing else of ours but the vector and tile headers beside them, so that no inline function of
// another header is ever compiled with their instructions (and then picked by the linker for all).
//
// The numbers. A row of activations x[0..K) is quantised symmetrically by its largest magnitude a:
//   one plane (DA8W8):  q = round_to_even(x * (127 / a)),    scale a / 127
//   two planes (A16W8): q = round_to_even(x * (32512 / a)),  scale a / 32512, q = 256 high + low
// with high in [-127, 127] and low in [-128, 127]. All products are integers, their sums are exact
// in int32 up to K = 131071, and the steps in float are element by element without fused
// multiply-add, so that every set returns the same bytes.

#include <cstddef>
#include <cstdint>

namespace axle::runtime {

/// Weights lie in column blocks of 64, each [K/4][64][4] int8 with K padded to 64 by zeros: one
/// contiguous stream of K*64 bytes, and at the same time a row of AMX B tiles with a stride of 256.
inline constexpr std::size_t block_columns = 64;
inline constexpr std::size_t depth_multiple = 64;

/// How a set wants its quantised activations, row by row: int8, int8 + 128 as uint8, or int16.
enum class ActivationForm : std::uint8_t { int8, offset_uint8, int16 };

/// One column block times all rows.
struct BlockProduct {
  const std::int8_t* weights;      ///< [depth/4][64][4], 64-byte aligned
  const void* activations;         ///< row r starts `row_bytes` * r further on
  std::size_t row_bytes;           ///< multiple of 64
  std::size_t rows;                ///< the buffers hold rows rounded up to 16
  std::size_t depth;               ///< K padded to a multiple of 64
  const std::int32_t* correction;  ///< [64] 128 * sum over k of the weights (for offset_uint8)
  std::int32_t* sums;              ///< out: [rows rounded up to 16][64], 64-byte aligned
};

/// From sums to floats: y = (256 high + low) * (row_scale * column_scale) + bias.
struct BlockResult {
  const std::int32_t* high;    ///< [rows][64]
  const std::int32_t* low;     ///< [rows][64], or null: one plane, y = high * (…) + bias
  const float* row_scales;     ///< [rows]
  const float* column_scales;  ///< [64]
  const float* bias;           ///< [64] or null
  float* y;                    ///< row r starts `row_floats` * r further on, 64 floats are written
  std::size_t row_floats;
  std::size_t rows;
};

struct KernelSet {
  ActivationForm form;
  /// Largest bit pattern of |x| over `count` floats (a multiple of 64): above that of every finite
  /// number when there is an infinity or a NaN.
  std::uint32_t (*largest_magnitude)(const float* x, std::size_t count);
  /// Writes `count` (a multiple of 64) quantised values in `form`; `low` null: one plane.
  void (*quantise)(const float* x, std::size_t count, float inverse_scale, void* high, void* low);
  void (*multiply)(const BlockProduct& product);
  void (*finish)(const BlockResult& result);
  /// Called by every thread around its part of a forward pass, or null. AMX: tiles are configured
  /// and released there, so that other users of the tiles in the process cannot disturb us.
  void (*enter)();
  void (*leave)();
};

}  // namespace axle::runtime

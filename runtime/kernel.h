#pragma once
// What a kernel set is: plain data and function pointers. Kernel files include this header and
// nothing else of ours but the vector and tile headers beside them, so that no inline function of
// another header is ever compiled with their instructions (and then picked by the linker for all).
//
// The numbers. A row of activations x[0..K) is quantised symmetrically by its largest magnitude a:
//   one plane (DA8W8):  q = round_to_even(x * (127 / a)),    scale a / 127
//   two planes (A16W8): q = round_to_even(x * (32512 / a)),  scale a / 32512, q = 256 high + low
// with high in [-127, 127] and low in [-128, 127]. All products are integers, their sums are exact
// in int32 up to K = 131071, and the steps in float are in one order without fused multiply-add, so
// that every set returns the same bytes. A16W4 and DA8W4 quantise rows in the same way. For float8
// weights (A16F8) a row is rounded to bfloat16, and its sums have the order of TDPBF16PS (Intel SDM
// vol. 2), so that tiles and vectors return the same bytes there, too.

#include <cstddef>
#include <cstdint>

namespace axle::runtime {

/// Weights lie in column blocks of 64, each [K/4][64][4] int8 with K padded to 64 by zeros: one
/// contiguous stream of K*64 bytes, and at the same time a row of AMX B tiles with a stride of 256.
inline constexpr std::size_t block_columns = 64;
inline constexpr std::size_t depth_multiple = 64;

/// How a set wants its quantised activations, row by row: int8, int8 + 128 as uint8, int16, or for
/// four at a time their magnitudes (uint8) and then their signs (0 or -1).
enum class ActivationForm : std::uint8_t { int8, offset_uint8, int16, magnitude_and_sign };

constexpr std::size_t bytes_of(ActivationForm form) {
  return form == ActivationForm::int8 || form == ActivationForm::offset_uint8 ? 1 : 2;
}

/// Rows lie so many bytes further apart than their length: equal places of rows whose length is a
/// power of two would fight for the same sets of L1. After a row of magnitudes and signs there is
/// an int32, the sum of the magnitudes of what is negative.
inline constexpr std::size_t row_gap = 64;

/// One column block times all rows.
struct BlockProduct {
  const std::int8_t* weights;      ///< [depth/4][64][4], 64-byte aligned
  const void* activations;         ///< row r starts `row_bytes` * r further on
  std::size_t row_bytes;           ///< multiple of 64: a row and `row_gap`
  std::size_t rows;                ///< the buffers hold rows rounded up to 16
  std::size_t depth;               ///< K padded to a multiple of 64
  const std::int32_t* correction;  ///< [64] 128 * sum over k of the weights (for offset_uint8)
  std::int32_t* sums;              ///< out: [rows rounded up to 16][64], 64-byte aligned
  /// The depth before this one is in `sums` already, its correction as well: add to them.
  bool continues = false;
  /// The weights are in a cache, and what comes after them is of no use.
  bool in_cache = false;
  /// With weights in a cache: what is read after this product, and is asked for meanwhile.
  const void* next = nullptr;
  std::size_t next_bytes = 0;
  /// Weights are asked for from several pages in turn (kernels/ahead.h; tiles always do).
  bool in_turn = false;
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

/// Keys and values of a sequence lie in pages of so many positions, a key page [depth][16], a value
/// page [16][depth].
inline constexpr std::size_t page_positions = 16;

enum class CacheForm : std::uint8_t { float32, float16, int8 };

/// Queries against all keys of a sequence: score = (query . key) * factor.
struct ScoreTask {
  const float* queries;  ///< row r starts `query_floats` * r further on
  std::size_t query_floats;
  std::size_t rows;
  std::size_t depth;  ///< of a head
  CacheForm form;
  const void* const* pages;    ///< [page_count]
  const float* const* scales;  ///< [page_count] of [16], for int8; else unused
  std::size_t page_count;
  float factor;
  float* scores;  ///< out: row r starts `score_floats` * r further on, 16 * page_count are written
  std::size_t score_floats;
};

/// The values of a sequence by their weights: out = (sum over positions of weight * value) *
/// factor.
struct MixTask {
  const float* weights;  ///< row r starts `weight_floats` * r further on
  std::size_t weight_floats;
  const float* factors;  ///< [rows]
  std::size_t rows;
  std::size_t depth;  ///< a multiple of 16
  CacheForm form;
  const void* const* pages;
  const float* const* scales;
  std::size_t page_count;
  float* out;  ///< row r starts `out_floats` * r further on
  std::size_t out_floats;
};

/// One column block of float weights times all rows: y = x W, summed in the order of the depth.
struct FloatProduct {
  const float* weights;  ///< [depth][64]
  const float* x;        ///< row r starts `x_floats` * r further on
  std::size_t x_floats;
  std::size_t rows;
  std::size_t depth;
  float* y;  ///< row r starts `y_floats` * r further on, 64 floats are written
  std::size_t y_floats;
};

/// The steps of a model between its linear layers. Sums over a row run in 16 lanes, element i in
/// lane i mod 16, and the lanes are added as a tree; all other sums run in the order of their
/// terms. No step depends on how many rows are computed together. `count` is a multiple of 16.
struct ModelSteps {
  /// y = x / sqrt(mean of squares + epsilon) * weight. y may be x. Where the sum of the squares is
  /// beyond float32, all of y is NaN; for layer_norm the same.
  void (*rms_norm)(const float* x, const float* weight, std::size_t count, float epsilon, float* y);
  /// y = (x - mean) / sqrt(variance + epsilon) * weight + bias. y may be x.
  void (*layer_norm)(const float* x, const float* weight, const float* bias, std::size_t count,
                     float epsilon, float* y);
  /// y += x.
  void (*add)(const float* x, std::size_t count, float* y);
  /// y = gate / (1 + exp(-gate)) * up. y may be gate or up.
  void (*silu_multiply)(const float* gate, const float* up, std::size_t count, float* y);
  /// x = x / 2 * (1 + erf(x / sqrt 2)); the error function to 2e-7.
  void (*gelu)(float* x, std::size_t count);
  /// Rotates (head[i], head[half + i]) by an angle whose cosine and sine are given; any `half`.
  void (*rotate)(float* head, const float* cosines, const float* sines, std::size_t half);
  void (*multiply_floats)(const FloatProduct& product);
  void (*score)(const ScoreTask& task);
  /// scores[first, last) become exp(score - largest), all others zero; returns their sum.
  float (*exponentiate)(float* scores, std::size_t first, std::size_t last, std::size_t count);
  void (*mix)(const MixTask& task);
};

/// 4-bit weights w in [-8, 7] lie in column blocks of 64 too, in slabs of 64 k: [K/64][8][64][4]
/// bytes. Byte (i, c, j) of a slab holds w + 8 of column c at k = 4i + j in its low half and at
/// k = 4i + j + 32 in its high one: half a slab (32 k) belongs to one group.
inline constexpr std::size_t half_slab_depth = 32;
inline constexpr std::size_t nibble_slab_bytes = depth_multiple * block_columns / 2;
inline constexpr std::size_t largest_group = 128;

/// A row of x on its way to 4-bit weights.
struct W4Row {
  const float* x;
  std::size_t count;  ///< a multiple of `group` and of 64
  float inverse_scale;
  std::size_t group;
  void* high;             ///< [count] in the set's `form`
  void* low;              ///< or null: one plane
  std::int32_t* offsets;  ///< out: [count / group] -8 * sum of the quantised values of the group
};

/// One column block of 4-bit weights times all rows. The sum of a group is exact in integers; then
/// sums[r][c] += float(256 high + low) * scale, group after group, each operation rounded by
/// itself.
struct W4Product {
  const std::uint8_t* weights;  ///< [depth/64][8][64][4], 64-byte aligned
  const std::uint16_t* scales;  ///< [depth/group][64] bfloat16: zero, or at least 2^-100
  const void* activations;      ///< row r of plane p starts `row_bytes` * (p * rows + r) further on
  std::size_t row_bytes;        ///< multiple of 64
  std::size_t rows;             ///< the buffer holds 32 rows more than rows * planes
  std::size_t planes;           ///< 1, or 2: high and low
  std::size_t depth;            ///< K padded to a multiple of 64 and of the group
  std::size_t group;            ///< 32, 64 or 128
  const std::int32_t* offsets;  ///< [rows][depth/group]
  float* sums;                  ///< out: [rows][64], 64-byte aligned
  bool in_turn = false;         ///< as in BlockProduct
};

/// 4-bit weights with two levels of scales: w * sub_scale is an int8 weight of `product`, in which
/// `weights` is unused.
struct TwoLevelProduct {
  const std::uint8_t* weights;  ///< as in W4Product
  /// [depth/64][64]: of the first 32 k of a slab in the low half of the byte, 1 to 15, of the other
  /// 32 in the high one.
  const std::uint8_t* sub_scales;
  std::size_t element_bytes;  ///< of an activation
  BlockProduct product;
};

/// A row of x on its way to float8 weights: x * first * second, whose largest magnitude is in
/// [2^120, 2^121), to the nearest bfloat16 (ties to even), and what is below 2^20 then to zero: no
/// product and no sum is a subnormal number.
struct F8Row {
  const float* x;
  std::size_t count;  ///< a multiple of 64
  float first;
  float second;
  void* to;  ///< [count] float, or bfloat16 of 2^-120 of it, as the set says
};

/// float8 weights (e4m3, as int8 weights lie) times a bfloat16 row. For each 32 k the products of
/// even k are summed, and those of odd k, in the order of k; then sums[r][c] += even + odd. Each
/// addition is rounded by itself; products are exact in float.
struct F8Product {
  const std::uint8_t* weights;  ///< [depth/4][64][4], 64-byte aligned
  const void* activations;      ///< row r starts `row_bytes` * r further on
  std::size_t row_bytes;        ///< multiple of 64
  std::size_t rows;             ///< the buffers hold rows rounded up to 16
  std::size_t depth;            ///< K padded to a multiple of 64
  float* sums;                  ///< out: [rows rounded up to 16][64], 64-byte aligned
  bool in_turn = false;         ///< as in BlockProduct
};

/// The products that one addition to the sums of float8 weights takes.
inline constexpr std::size_t f8_depth = 32;

/// y = sums * (row_scale * column_scale) + bias.
struct FloatResult {
  const float* sums;           ///< [rows][64]
  const float* row_scales;     ///< [rows]
  const float* column_scales;  ///< [64], or null: 1
  const float* bias;           ///< [64] or null
  float* y;                    ///< as in BlockResult
  std::size_t row_floats;
  std::size_t rows;
};

/// What 4-bit and float8 weights take.
struct NarrowSteps {
  ActivationForm form;  ///< int8 or int16: of rows that go to multiply_w4
  void (*quantise_w4)(const W4Row& row);
  void (*multiply_w4)(const W4Product& product);
  void (*multiply_two_level)(const TwoLevelProduct& product);
  std::size_t f8_bytes;  ///< of a value that goes to multiply_f8: 4 float, 2 bfloat16
  /// With fewer rows that go to multiply_f8 the next set is faster; 0: as the table says.
  std::size_t least_f8_rows;
  void (*quantise_f8)(const F8Row& row);
  void (*multiply_f8)(const F8Product& product);
  void (*finish_floats)(const FloatResult& result);
};

/// What LDTILECFG loads (Intel SDM vol. 2).
inline constexpr std::size_t tile_configuration_bytes = 64;

struct KernelSet {
  ActivationForm form;
  /// Of the quantised rows that are multiplied with all weights before the next ones are: they
  /// should stay in L2.
  std::size_t chunk_bytes = std::size_t{4} << 20;
  /// Largest bit pattern of |x| over `count` floats (a multiple of 64): above that of every finite
  /// number when there is an infinity or a NaN.
  std::uint32_t (*largest_magnitude)(const float* x, std::size_t count);
  /// Writes a row of `count` (a multiple of 64) quantised values in `form`; `low` null: one plane.
  void (*quantise)(const float* x, std::size_t count, float inverse_scale, void* high, void* low);
  void (*multiply)(const BlockProduct& product);
  void (*finish)(const BlockResult& result);
  /// Called by every thread around its part of a forward pass, or null. AMX: tiles are configured
  /// there, and as they were before afterwards, so that other users of the tiles in the process
  /// disturb us as little as we them: some configure them once a thread and never look again.
  /// `others`: tile_configuration_bytes, as enter left them.
  void (*enter)(void* others);
  void (*leave)(const void* others);
  const ModelSteps* model;
  const NarrowSteps* narrow;
};

}  // namespace axle::runtime

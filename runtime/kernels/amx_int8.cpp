// AMX-INT8, and AMX-BF16 for float8 weights. Up to 16 rows: one A tile times the four B tiles of a
// column block, so that the weights stream through once. More rows: two A tiles times two B tiles,
// over depth blocks that stay in L2 while all rows pass. A tile product costs the same for one row
// as for sixteen.
#include "runtime/kernels/tile.h"
//
#include "runtime/kernels/ahead.h"
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/multiply.h"
#include "runtime/kernels/narrow_steps.h"
#include "runtime/kernels/sets.h"

namespace axle::runtime {
namespace {

inline constexpr std::size_t slab_bytes = depth_multiple * block_columns;  ///< 64 k of a block
inline constexpr std::size_t slab_stride = 4 * block_columns;
inline constexpr std::size_t sum_stride = 4 * block_columns;
inline constexpr std::size_t tile_rows = 16;
inline constexpr std::size_t tile_row_bytes = 64;

/// LDTILECFG's operand (Intel SDM vol. 2, palette 1): all eight tiles 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  std::uint8_t palette;
  std::uint8_t start_row;
  std::uint8_t reserved[14];
  std::uint16_t row_bytes[16];
  std::uint8_t rows[16];
};

AXLE_TILE_TARGET void enter(void* others) {
  static constexpr TileConfiguration configuration{
      1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
  tile_keep_configuration(others);
  tile_configure(&configuration);
}

/// Where nobody had configured tiles, that releases them.
AXLE_TILE_TARGET void leave(const void* others) { tile_configure(others); }

/// Products of int8 into int32, or of bfloat16 into float: both have four bytes of depth for each
/// sum of four bytes.
enum class TileProduct { int8, bfloat16 };

#define AXLE_TILE_DOT(sums, a, b)             \
  if constexpr (product == TileProduct::int8) \
    tile_dot_int8(sums, a, b);                \
  else                                        \
    tile_dot_bfloat16(sums, a, b)

/// 64 bytes of depth a slab: 64 k of int8, 32 k of bfloat16.
struct TilePass {
  const void* weights;
  const void* activations;
  std::size_t row_bytes;
  std::size_t slabs;
  void* sums;
  bool first;  ///< start from zero, else from `sums`
};

/// 16 rows times 64 columns.
template <TileProduct product>
AXLE_TILE_TARGET void one_row_tile(const TilePass& pass, Ahead& ahead) {
  char* const sums = static_cast<char*>(pass.sums);
  const char* const a = static_cast<const char*>(pass.activations);
  if (pass.first) {
    tile_zero(0);
    tile_zero(1);
    tile_zero(2);
    tile_zero(3);
  } else {
    tile_load(0, sums, sum_stride);
    tile_load(1, sums + 64, sum_stride);
    tile_load(2, sums + 128, sum_stride);
    tile_load(3, sums + 192, sum_stride);
  }
  for (std::size_t slab = 0; slab < pass.slabs; ++slab) {
    const char* const b = static_cast<const char*>(pass.weights) + slab * slab_bytes;
    advance(ahead);
    tile_load(4, a + slab * tile_row_bytes, pass.row_bytes);
    tile_load(5, b, slab_stride);
    AXLE_TILE_DOT(0, 4, 5);
    advance(ahead);
    tile_load(6, b + 64, slab_stride);
    AXLE_TILE_DOT(1, 4, 6);
    advance(ahead);
    tile_load(7, b + 128, slab_stride);
    AXLE_TILE_DOT(2, 4, 7);
    advance(ahead);
    tile_load(5, b + 192, slab_stride);
    AXLE_TILE_DOT(3, 4, 5);
  }
  tile_store(0, sums, sum_stride);
  tile_store(1, sums + 64, sum_stride);
  tile_store(2, sums + 128, sum_stride);
  tile_store(3, sums + 192, sum_stride);
}

/// Half a slab into L1. While the other hardware thread of a core is busy, the window in which
/// loads run ahead is half as long, and does not reach over those of tiles from L2.
void fetch_half_slab(const char* from) {
  for (std::size_t row = 0; row < tile_rows; ++row) {
    __builtin_prefetch(from + row * slab_stride, 0, 3);
    __builtin_prefetch(from + row * slab_stride + tile_row_bytes, 0, 3);
  }
}

/// 32 rows times 32 columns: `pass.weights` and `pass.sums` point at the half of the block.
template <TileProduct product>
AXLE_TILE_TARGET void two_row_tiles(const TilePass& pass, Ahead& ahead) {
  char* const sums = static_cast<char*>(pass.sums);
  char* const lower_sums = sums + tile_rows * sum_stride;
  const char* const a = static_cast<const char*>(pass.activations);
  if (pass.first) {
    tile_zero(0);
    tile_zero(1);
    tile_zero(2);
    tile_zero(3);
  } else {
    tile_load(0, sums, sum_stride);
    tile_load(1, sums + 64, sum_stride);
    tile_load(2, lower_sums, sum_stride);
    tile_load(3, lower_sums + 64, sum_stride);
  }
  const char* const lower = a + tile_rows * pass.row_bytes;
  for (std::size_t slab = 0; slab < pass.slabs; ++slab) {
    const char* const b = static_cast<const char*>(pass.weights) + slab * slab_bytes;
    advance(ahead);
    tile_load(4, a + slab * tile_row_bytes, pass.row_bytes);
    tile_load(6, b, slab_stride);
    AXLE_TILE_DOT(0, 4, 6);
    fetch_half_slab(b + slab_bytes);
    tile_load(7, b + 64, slab_stride);
    AXLE_TILE_DOT(1, 4, 7);
    advance(ahead);
    tile_load(5, lower + slab * tile_row_bytes, pass.row_bytes);
    AXLE_TILE_DOT(2, 5, 6);
    AXLE_TILE_DOT(3, 5, 7);
  }
  tile_store(0, sums, sum_stride);
  tile_store(1, sums + 64, sum_stride);
  tile_store(2, lower_sums, sum_stride);
  tile_store(3, lower_sums + 64, sum_stride);
}

/// All rows over some slabs of the depth; `pass` is that of the first.
template <TileProduct product>
void row_tiles(TilePass pass, std::size_t rows, Ahead& ahead) {
  for (std::size_t row = 0; row < rows; row += 2 * tile_rows) {
    if (rows - row <= tile_rows) {
      one_row_tile<product>(pass, ahead);
    } else {
      two_row_tiles<product>(pass, ahead);
      TilePass right = pass;
      right.weights = static_cast<const char*>(pass.weights) + 2 * tile_row_bytes;
      right.sums = static_cast<char*>(pass.sums) + sum_stride / 2;
      two_row_tiles<product>(right, ahead);
    }
    pass.activations = static_cast<const char*>(pass.activations) + 2 * tile_rows * pass.row_bytes;
    pass.sums = static_cast<char*>(pass.sums) + 2 * tile_rows * sum_stride;
  }
}

/// The slabs that all rows pass over before the next ones. Sums that leave the tiles and come back
/// cost more than what L1 would save over L2, which holds these slabs, the next ones and the rows.
inline constexpr std::size_t slabs_together = 32;

/// How often all rows' products with a slab call `advance`: 16 rows four times, 32 rows twice for
/// each half.
constexpr std::size_t advances_a_slab(std::size_t rows) {
  return 4 * ((rows + 2 * tile_rows - 1) / (2 * tile_rows));
}

void multiply(const BlockProduct& product) {
  const std::size_t slabs = product.depth / depth_multiple;
  const bool streams = product.rows <= tile_rows;
  const std::size_t together = streams ? slabs : slabs_together;
  const std::size_t ahead_bytes = streams ? 0 : together * slab_bytes - turn_bytes;
  for (std::size_t slab = 0; slab < slabs; slab += together) {
    const std::size_t count = slabs - slab < together ? slabs - slab : together;
    const std::int8_t* const weights = product.weights + slab * slab_bytes;
    Ahead ahead = ahead_in_turn(weights + ahead_bytes, count * slab_bytes,
                                count * advances_a_slab(product.rows), streams);
    row_tiles<TileProduct::int8>(
        {.weights = weights,
         .activations = static_cast<const char*>(product.activations) + slab * tile_row_bytes,
         .row_bytes = product.row_bytes,
         .slabs = count,
         .sums = product.sums,
         .first = slab == 0 && !product.continues},
        product.rows, ahead);
  }
}

}  // namespace
}  // namespace axle::runtime

#include "runtime/kernels/amx_f8.h"
#include "runtime/kernels/amx_w4.h"
//
#include "runtime/kernels/amx_two_level.h"

namespace axle::runtime {
namespace {

constexpr NarrowSteps tile_narrow_steps{.form = ActivationForm::int8,
                                        .quantise_w4 = quantise_w4<AsInt8>,
                                        .multiply_w4 = multiply_w4_tiles,
                                        .multiply_two_level = multiply_two_level_tiles,
                                        .f8_bytes = sizeof(std::uint16_t),
                                        .least_f8_rows = 4,
                                        .quantise_f8 = quantise_f8<AsBfloat16>,
                                        .multiply_f8 = multiply_f8_tiles,
                                        .finish_floats = finish_floats};

}  // namespace

constinit const KernelSet kernel_set_amx_int8{.form = ActivationForm::int8,
                                              .chunk_bytes = std::size_t{1} << 20,
                                              .largest_magnitude = largest_magnitude,
                                              .quantise = quantise<AsInt8>,
                                              .multiply = multiply,
                                              .finish = finish,
                                              .enter = enter,
                                              .leave = leave,
                                              .model = &model_steps,
                                              .narrow = &tile_narrow_steps};

}  // namespace axle::runtime

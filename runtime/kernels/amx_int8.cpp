// AMX-INT8, and AMX-BF16 for float8 weights. Up to 16 rows: one A tile times the four B tiles of a
// column block, so that the weights stream through once. More rows: two A tiles times two B tiles,
// over depth blocks that stay in L1 while all rows pass. A tile product costs the same for one row
// as for sixteen.
#include "runtime/kernels/tile.h"
//
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

/// How fast the lines of an `Ahead` follow one another.
enum class Pace {
  near,  ///< slowly, into L1
  slow,  ///< slowly, into L2
  fast,
};

/// Prefetches for every slab that a pass takes, an even share of what comes next.
struct Ahead {
  const char* next;
  const char* end;
  std::size_t lines;
  Pace pace;
};

/// A line is asked for `delays` multiplications after the one before. Asked for as fast as
/// possible, lines from memory take every line fill buffer of the core, and the loads of tiles wait
/// for one: 16 rows by 4096 x 4096 then take 557 us instead of 475, 32 rows 700 instead of 515.
/// Three multiplications leave 20 GB/s to a core of 3.2 GHz.
template <int locality, int delays>
void prefetch_lines(Ahead& ahead) {
  const char* next = ahead.next;
  for (std::size_t i = 0; i < ahead.lines; ++i) {
    __builtin_prefetch(next, 0, locality);
    for (int d = 0; d < delays; ++d) tile_delay(next);
    next += 64;
  }
  ahead.next = next;
}

void advance(Ahead& ahead) {
  if (ahead.next >= ahead.end) return;
  switch (ahead.pace) {
    case Pace::near:
      return prefetch_lines<3, 3>(ahead);
    case Pace::slow:
      return prefetch_lines<2, 3>(ahead);
    case Pace::fast:
      return prefetch_lines<2, 1>(ahead);
  }
}

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
    tile_load(6, b + 64, slab_stride);
    AXLE_TILE_DOT(1, 4, 6);
    tile_load(7, b + 128, slab_stride);
    AXLE_TILE_DOT(2, 4, 7);
    tile_load(5, b + 192, slab_stride);
    AXLE_TILE_DOT(3, 4, 5);
  }
  tile_store(0, sums, sum_stride);
  tile_store(1, sums + 64, sum_stride);
  tile_store(2, sums + 128, sum_stride);
  tile_store(3, sums + 192, sum_stride);
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
    tile_load(7, b + 64, slab_stride);
    AXLE_TILE_DOT(1, 4, 7);
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

/// The slabs that all rows pass over before the next ones: with the rows' tiles, they should stay
/// in L1 for all passes but the first.
constexpr std::size_t slabs_together(std::size_t tiles) { return tiles <= 8 ? 4 : 6; }

constexpr Pace pace_of(std::size_t tiles) {
  return tiles == 1 ? Pace::near : tiles <= 4 ? Pace::slow : Pace::fast;
}

void multiply(const BlockProduct& product) {
  const std::size_t slabs = product.depth / depth_multiple;
  const std::size_t tiles = (product.rows + tile_rows - 1) / tile_rows;
  const std::size_t together = tiles == 1 ? slabs : slabs_together(tiles);
  const std::size_t ahead_bytes = (tiles == 1 ? 2 : together) * slab_bytes;
  for (std::size_t slab = 0; slab < slabs; slab += together) {
    const std::size_t count = slabs - slab < together ? slabs - slab : together;
    const char* const from =
        reinterpret_cast<const char*>(product.weights) + slab * slab_bytes + ahead_bytes;
    Ahead ahead{from, product.in_cache ? from : from + count * slab_bytes, (64 + tiles - 1) / tiles,
                pace_of(tiles)};
    row_tiles<TileProduct::int8>(
        {.weights = product.weights + slab * slab_bytes,
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

namespace axle::runtime {
namespace {

constexpr NarrowSteps tile_narrow_steps{.form = ActivationForm::int8,
                                        .least_rows = 1,
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
                                              .largest_magnitude = largest_magnitude,
                                              .quantise = quantise<AsInt8>,
                                              .multiply = multiply,
                                              .finish = finish,
                                              .enter = enter,
                                              .leave = leave,
                                              .model = &model_steps,
                                              .narrow = &tile_narrow_steps};

}  // namespace axle::runtime

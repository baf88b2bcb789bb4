// AMX-INT8. Up to 16 rows: one A tile times the four B tiles of a column block, so that the
// weights stream through once. More rows: two A tiles times two B tiles, over depth blocks that
// stay in L2 while all rows pass. A tile product costs the same for one row as for sixteen.
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

AXLE_TILE_TARGET void enter() {
  static constexpr TileConfiguration configuration{
      1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
  tile_configure(&configuration);
}

AXLE_TILE_TARGET void leave() { tile_release(); }

/// Prefetches for every slab that a pass takes, an even share of what comes next.
struct Ahead {
  const char* next;
  const char* end;
  std::size_t lines;
  bool near;
};

void advance(Ahead& ahead) {
  if (ahead.next >= ahead.end) return;
  if (ahead.near) {
    for (std::size_t i = 0; i < ahead.lines; ++i) __builtin_prefetch(ahead.next + 64 * i, 0, 3);
  } else {
    for (std::size_t i = 0; i < ahead.lines; ++i) __builtin_prefetch(ahead.next + 64 * i, 0, 2);
  }
  ahead.next += 64 * ahead.lines;
}

struct TilePass {
  const std::int8_t* weights;
  const std::int8_t* activations;
  std::size_t row_bytes;
  std::size_t slabs;
  std::int32_t* sums;
  bool first;  ///< start from zero, else from `sums`
};

/// 16 rows times 64 columns.
AXLE_TILE_TARGET void one_row_tile(const TilePass& pass, Ahead& ahead) {
  if (pass.first) {
    tile_zero(0);
    tile_zero(1);
    tile_zero(2);
    tile_zero(3);
  } else {
    tile_load(0, pass.sums, sum_stride);
    tile_load(1, pass.sums + 16, sum_stride);
    tile_load(2, pass.sums + 32, sum_stride);
    tile_load(3, pass.sums + 48, sum_stride);
  }
  for (std::size_t slab = 0; slab < pass.slabs; ++slab) {
    const std::int8_t* const b = pass.weights + slab * slab_bytes;
    advance(ahead);
    tile_load(4, pass.activations + slab * depth_multiple, pass.row_bytes);
    tile_load(5, b, slab_stride);
    tile_dot_int8(0, 4, 5);
    tile_load(6, b + 64, slab_stride);
    tile_dot_int8(1, 4, 6);
    tile_load(7, b + 128, slab_stride);
    tile_dot_int8(2, 4, 7);
    tile_load(5, b + 192, slab_stride);
    tile_dot_int8(3, 4, 5);
  }
  tile_store(0, pass.sums, sum_stride);
  tile_store(1, pass.sums + 16, sum_stride);
  tile_store(2, pass.sums + 32, sum_stride);
  tile_store(3, pass.sums + 48, sum_stride);
}

/// 32 rows times 32 columns: `pass.weights` and `pass.sums` point at the half of the block.
AXLE_TILE_TARGET void two_row_tiles(const TilePass& pass, Ahead& ahead) {
  std::int32_t* const lower_sums = pass.sums + tile_rows * block_columns;
  if (pass.first) {
    tile_zero(0);
    tile_zero(1);
    tile_zero(2);
    tile_zero(3);
  } else {
    tile_load(0, pass.sums, sum_stride);
    tile_load(1, pass.sums + 16, sum_stride);
    tile_load(2, lower_sums, sum_stride);
    tile_load(3, lower_sums + 16, sum_stride);
  }
  const std::int8_t* const lower = pass.activations + tile_rows * pass.row_bytes;
  for (std::size_t slab = 0; slab < pass.slabs; ++slab) {
    const std::int8_t* const b = pass.weights + slab * slab_bytes;
    advance(ahead);
    tile_load(4, pass.activations + slab * depth_multiple, pass.row_bytes);
    tile_load(6, b, slab_stride);
    tile_dot_int8(0, 4, 6);
    tile_load(7, b + 64, slab_stride);
    tile_dot_int8(1, 4, 7);
    tile_load(5, lower + slab * depth_multiple, pass.row_bytes);
    tile_dot_int8(2, 5, 6);
    tile_dot_int8(3, 5, 7);
  }
  tile_store(0, pass.sums, sum_stride);
  tile_store(1, pass.sums + 16, sum_stride);
  tile_store(2, lower_sums, sum_stride);
  tile_store(3, lower_sums + 16, sum_stride);
}

/// All rows over the slabs [slab, slab + slabs) of the depth.
void depth_block(const BlockProduct& product, std::size_t slab, std::size_t slabs, Ahead& ahead) {
  for (std::size_t row = 0; row < product.rows; row += 2 * tile_rows) {
    TilePass pass{product.weights + slab * slab_bytes,
                  static_cast<const std::int8_t*>(product.activations) + row * product.row_bytes +
                      slab * depth_multiple,
                  product.row_bytes,
                  slabs,
                  product.sums + row * block_columns,
                  slab == 0 && !product.continues};
    if (product.rows - row <= tile_rows) {
      one_row_tile(pass, ahead);
    } else {
      two_row_tiles(pass, ahead);
      pass.weights += 2 * tile_row_bytes;
      pass.sums += block_columns / 2;
      two_row_tiles(pass, ahead);
    }
  }
}

void multiply(const BlockProduct& product) {
  const std::size_t slabs = product.depth / depth_multiple;
  const std::size_t tiles = (product.rows + tile_rows - 1) / tile_rows;
  const std::size_t block_slabs = tiles == 1 ? slabs : tiles <= 4 ? 16 : 64;
  const std::size_t ahead_bytes = tiles == 1 ? 2 * slab_bytes : block_slabs * slab_bytes;
  for (std::size_t slab = 0; slab < slabs; slab += block_slabs) {
    const std::size_t count = slabs - slab < block_slabs ? slabs - slab : block_slabs;
    const char* const from =
        reinterpret_cast<const char*>(product.weights) + slab * slab_bytes + ahead_bytes;
    Ahead ahead{from, from + count * slab_bytes, (64 + tiles - 1) / tiles, tiles == 1};
    depth_block(product, slab, count, ahead);
  }
}

}  // namespace
}  // namespace axle::runtime

#include "runtime/kernels/amx_w4.h"

namespace axle::runtime {
namespace {

constexpr NarrowSteps tile_narrow_steps{.form = ActivationForm::int8,
                                        .quantise_w4 = quantise_w4<AsInt8>,
                                        .multiply_w4 = multiply_w4_tiles,
                                        .multiply_two_level = multiply_two_level<multiply>,
                                        .scale = scale,
                                        .multiply_f8 = multiply_f8,
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

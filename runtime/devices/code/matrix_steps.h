// The same layer by the matrix instruction of NVIDIA's GPUs from sm_80 on, for more rows than a
// dot product is good for: mma.m16n8k32 takes 16 rows, 8 columns and 32 k (PTX ISA, "Matrix
// Fragments for mma.m16n8k32"). Its operands lie as rows and weights do anyway: a word of either is
// four k. CUDA and the model only; linear_steps.h comes first.

#define AXLE_MATRIX_THREADS 128
#define AXLE_MATRIX_ROWS 16
// A warp has so many tiles of 8 columns, its block of threads a column block.
#define AXLE_MATRIX_TILES 2
#define AXLE_MATRIX_STEPS 8  // of the depth that one instruction takes

enum { axle_form_int8, axle_form_int4, axle_form_two_level };

// What a thread has of its warp's rows, weights and sums.
struct AxleTile {
  uint rows[2][4];
  uint weights[AXLE_MATRIX_TILES][2];
  int sums[2][AXLE_MATRIX_TILES][4];
  float totals[AXLE_MATRIX_TILES][4];  // of groups
};

AXLE_FUNCTION void axle_clear_sums(AxleTile& own) {
  AXLE_UNROLL
  for (uint i = 0; i < 2 * AXLE_MATRIX_TILES * 4; ++i)
    own.sums[i / (AXLE_MATRIX_TILES * 4)][i / 4 % AXLE_MATRIX_TILES][i % 4] = 0;
}

// Rows behind the last one count as zeros.
AXLE_FUNCTION void axle_load_rows(AxleTile& own, uint thread, const AXLE_GLOBAL uint* values,
                                  uint words, uint rows, uint planes, uint first_step) {
  const uint lane = thread % 32U;
  AXLE_UNROLL
  for (uint plane = 0; plane < 2; ++plane) {
    AXLE_UNROLL
    for (uint i = 0; i < 4; ++i) {
      const uint row = AXLE_BLOCK_Y * AXLE_MATRIX_ROWS + lane / 4U + i % 2U * 8U;
      const uint step = first_step + lane % 4U + i / 2U * 4U;
      own.rows[plane][i] =
          plane < planes && row < rows ? values[((ulong)plane * rows + row) * words + step] : 0U;
    }
  }
}

// The column, in its column block, of what a thread has as the tile's weights.
AXLE_FUNCTION uint axle_weight_column(uint thread, uint tile) {
  return thread / 32U * (8U * AXLE_MATRIX_TILES) + tile * 8U + thread % 32U / 4U;
}

template <int form>
AXLE_FUNCTION uint axle_weight_word(const AXLE_GLOBAL uint* weights, const AXLE_GLOBAL uchar* side,
                                    uint words, uint step, uint column) {
  const ulong block = AXLE_BLOCK_X;
  const uint slab = step / AXLE_SLAB_STEPS;
  const uint upper = step / AXLE_SLAB_WORDS % 2U;
  if (form == axle_form_int8) return weights[(block * words + step) * AXLE_BLOCK_COLUMNS + column];
  const ulong i = block * (words / 2U) + slab * AXLE_SLAB_WORDS + step % AXLE_SLAB_WORDS;
  const uint nibbles = axle_nibbles(weights[i * AXLE_BLOCK_COLUMNS + column], upper);
  if (form == axle_form_int4) return axle_signed_nibbles(nibbles);
  const ulong slabs = words / AXLE_SLAB_STEPS;
  const uint factors = side[(block * slabs + slab) * AXLE_BLOCK_COLUMNS + column];
  return axle_scaled_nibbles(nibbles, (factors >> (4U * upper)) & 15U);
}

template <int form>
AXLE_FUNCTION void axle_load_weights(AxleTile& own, uint thread, const AXLE_GLOBAL uint* weights,
                                     const AXLE_GLOBAL uchar* side, uint words, uint first_step) {
  AXLE_UNROLL
  for (uint tile = 0; tile < AXLE_MATRIX_TILES; ++tile) {
    AXLE_UNROLL
    for (uint i = 0; i < 2; ++i)
      own.weights[tile][i] =
          axle_weight_word<form>(weights, side, words, first_step + thread % 4U + i * 4U,
                                 axle_weight_column(thread, tile));
  }
}

// The row, in its 16, and the column, in its column block, of a thread's sum i of a tile.
AXLE_FUNCTION uint axle_sum_row(uint thread, uint i) { return thread % 32U / 4U + i / 2U * 8U; }
AXLE_FUNCTION uint axle_sum_column(uint thread, uint tile, uint i) {
  return thread / 32U * (8U * AXLE_MATRIX_TILES) + tile * 8U + thread % 4U * 2U + i % 2U;
}

// Adds the sums of a group to the totals, and begins anew.
AXLE_FUNCTION void axle_end_group(AxleTile& own, uint thread, const AXLE_GLOBAL uchar* side,
                                  ulong group_of_block, uint planes) {
  AXLE_UNROLL
  for (uint tile = 0; tile < AXLE_MATRIX_TILES; ++tile) {
    AXLE_UNROLL
    for (uint i = 0; i < 4; ++i) {
      const float scale = axle_group_scale(
          side, group_of_block * AXLE_BLOCK_COLUMNS + axle_sum_column(thread, tile, i));
      const float sum = axle_of_group(own.sums[0][tile][i], own.sums[1][tile][i], planes);
      own.totals[tile][i] = axle_add(own.totals[tile][i], axle_multiply(sum, scale));
    }
  }
  axle_clear_sums(own);
}

template <int form>
AXLE_FUNCTION void axle_put_tiles(const AxleTile& own, uint thread, const AXLE_GLOBAL float* scales,
                                  const AXLE_GLOBAL float* bias,
                                  const AXLE_GLOBAL float* row_scales, AXLE_GLOBAL float* y,
                                  uint rows, uint planes, uint n, uint has_bias) {
  AXLE_UNROLL
  for (uint tile = 0; tile < AXLE_MATRIX_TILES; ++tile) {
    AXLE_UNROLL
    for (uint i = 0; i < 4; ++i) {
      const uint row = AXLE_BLOCK_Y * AXLE_MATRIX_ROWS + axle_sum_row(thread, i);
      const uint column = AXLE_BLOCK_X * AXLE_BLOCK_COLUMNS + axle_sum_column(thread, tile, i);
      if (row >= rows) continue;
      if (form == axle_form_int4) {
        axle_put(own.totals[tile][i], row_scales[row], bias, has_bias, row, column, n, y);
      } else {
        axle_put(axle_of_planes(own.sums[0][tile][i], own.sums[1][tile][i], planes),
                 axle_multiply(row_scales[row], scales[column]), bias, has_bias, row, column, n, y);
      }
    }
  }
}

// Blocks of threads: (columns / 64, rows / 16), rounded up.
template <int form>
AXLE_FUNCTION void axle_matrix AXLE_LAYER_PARAMETERS {
  AXLE_PRIVATE(AxleTile, tile, AXLE_MATRIX_THREADS);
  const ulong groups = form == axle_form_int4 ? 4U * words / group : 0U;
  AXLE_EACH_THREAD(AXLE_MATRIX_THREADS) {
    axle_clear_sums(AXLE_OWN(tile));
    AXLE_UNROLL
    for (uint i = 0; i < AXLE_MATRIX_TILES * 4; ++i) AXLE_OWN(tile).totals[i / 4][i % 4] = 0.0F;
  }
  for (uint step = 0; step < words; step += AXLE_MATRIX_STEPS) {
    AXLE_EACH_THREAD(AXLE_MATRIX_THREADS) {
      axle_load_rows(AXLE_OWN(tile), thread, values, words, rows, planes, step);
      axle_load_weights<form>(AXLE_OWN(tile), thread, weights, side, words, step);
    }
    axle_multiply_tiles(tile, planes);
    if (form == axle_form_int4 && (4U * step + 32U) % group == 0U) {
      AXLE_EACH_THREAD(AXLE_MATRIX_THREADS) {
        axle_end_group(AXLE_OWN(tile), thread, side, AXLE_BLOCK_X * groups + 4U * step / group,
                       planes);
      }
    }
  }
  AXLE_EACH_THREAD(AXLE_MATRIX_THREADS) {
    axle_put_tiles<form>(AXLE_OWN(tile), thread, scales, bias, row_scales, y, rows, planes, n,
                         has_bias);
  }
}

#define AXLE_LAYER_ARGUMENTS \
  (weights, side, scales, bias, values, row_scales, y, words, rows, planes, n, group, has_bias)

AXLE_KERNEL(axle_matrix_int8, AXLE_MATRIX_THREADS) AXLE_LAYER_PARAMETERS {
  axle_matrix<axle_form_int8> AXLE_LAYER_ARGUMENTS;
}
AXLE_KERNEL(axle_matrix_int4, AXLE_MATRIX_THREADS) AXLE_LAYER_PARAMETERS {
  axle_matrix<axle_form_int4> AXLE_LAYER_ARGUMENTS;
}
AXLE_KERNEL(axle_matrix_two_level, AXLE_MATRIX_THREADS) AXLE_LAYER_PARAMETERS {
  axle_matrix<axle_form_two_level> AXLE_LAYER_ARGUMENTS;
}

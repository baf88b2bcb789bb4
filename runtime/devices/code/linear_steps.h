// The kernels of a quantised linear layer on a device, in what CUDA C++, OpenCL C and C++ have in
// common. What they write differently is in a dialect header, which comes first: cuda_dialect.h,
// opencl_dialect.h, or the model of the tests, which runs the same source on the CPU.
//
// Numbers, and how weights lie, are those of runtime/kernel.h, so that results are the CPU's byte
// for byte: sums are exact in integers, and each step in float is one operation, in the CPU's
// order.
//
// A kernel is written for a block of threads. What each of them does is in AXLE_EACH_THREAD, and no
// thread reads there what another one writes in the same part; AXLE_BARRIER separates parts. Only
// shared and global memory live from one part to the next.

enum { axle_x_float32 = 0, axle_x_bfloat16 = 1, axle_x_float16 = 2 };  // as axle_type has them

#define AXLE_QUANTISE_THREADS 256
// Threads side by side have four columns each, and one above the other parts of the depth.
#define AXLE_DOT_THREADS 128
#define AXLE_DOT_COLUMNS 16
#define AXLE_DOT_SIDE (AXLE_DOT_COLUMNS / 4)
#define AXLE_DOT_SLICES (AXLE_DOT_THREADS / AXLE_DOT_SIDE)
// Rows of x that share what is read of the weights; each has one or two planes.
#define AXLE_DOT_ROWS 4
#define AXLE_DOT_LINES (2 * AXLE_DOT_ROWS)

#define AXLE_BLOCK_COLUMNS 64  // of a column block
#define AXLE_SLAB_STEPS 16     // a slab is 64 k; a step is four of them, a word of a column
#define AXLE_SLAB_WORDS 8      // of 4-bit weights: steps i and i + 8 share a word

// One signature for all kernels that multiply.
//   weights     column blocks of 64, as runtime/kernel.h has them
//   side        scales of groups (bfloat16) or factors of 32 k (two in a byte)
//   scales      of columns, unless groups have theirs
//   values      [planes][rows][words] the quantised rows, four in a word
//   words       of a row
//   group       of int4 weights, else 0
#define AXLE_LAYER_PARAMETERS                                                                      \
  (const AXLE_GLOBAL uint* weights, const AXLE_GLOBAL uchar* side,                                 \
   const AXLE_GLOBAL float* scales, const AXLE_GLOBAL float* bias, const AXLE_GLOBAL uint* values, \
   const AXLE_GLOBAL float* row_scales, AXLE_GLOBAL float* y, uint words, uint rows, uint planes,  \
   uint n, uint group, uint has_bias)

// --- numbers ------------------------------------------------------------------------------------

// IEEE 754 binary16. A subnormal is its fraction times 2^-24, which is exact in float.
AXLE_FUNCTION float axle_float_of_half(uint half_bits) {
  const uint sign = (half_bits & 0x8000U) << 16;
  const uint exponent = (half_bits >> 10) & 0x1fU;
  const uint fraction = half_bits & 0x3ffU;
  const uint wide = exponent == 31U ? 255U : exponent + 112U;
  if (exponent == 0U)
    return axle_float(axle_bits(axle_multiply((float)fraction, axle_float(103U << 23))) | sign);
  return axle_float(sign | (wide << 23) | (fraction << 13));
}

AXLE_FUNCTION float axle_load(const AXLE_GLOBAL uchar* x, uint type, ulong i) {
  uint half_bits;
  if (type == axle_x_float32) return ((const AXLE_GLOBAL float*)x)[i];
  half_bits = ((const AXLE_GLOBAL ushort*)x)[i];
  return type == axle_x_bfloat16 ? axle_float(half_bits << 16) : axle_float_of_half(half_bits);
}

// a / b to the nearest, where both and the quotient are normal and positive: division in OpenCL may
// be off by two units in the last place. There are no ties: what lies between two floats has 25
// bits, and times b more than a has.
AXLE_FUNCTION float axle_divide(float a, float b) {
  const uint a_bits = axle_bits(a);
  const uint b_bits = axle_bits(b);
  const ulong upper = (ulong)((a_bits & 0x7fffffU) | 0x800000U) << 26;
  const ulong lower = (ulong)((b_bits & 0x7fffffU) | 0x800000U);
  const ulong quotient = upper / lower;  // 26 bits where a's fraction is the smaller one, else 27
  const uint shift = quotient >> 26 != 0U ? 3U : 2U;
  const uint half_step = 1U << (shift - 1U);
  const uint rest = (uint)(quotient & ((1U << shift) - 1U));
  const uint exponent = (a_bits >> 23) - (b_bits >> 23) + 127U - (3U - shift);
  uint fraction = (uint)(quotient >> shift);
  if (rest >= half_step) ++fraction;
  return axle_float((exponent << 23) + (fraction - 0x800000U));
}

// To the nearest, ties to even, for |v| < 2^22: beyond 1.5 * 2^23 a float has no fraction.
AXLE_FUNCTION int axle_round(float v) {
  return (int)axle_add(axle_add(v, 12582912.0F), -12582912.0F);
}

// --- rows ---------------------------------------------------------------------------------------

// Four quantised values of a row from element i on: one plane, or the high or low bytes of two.
AXLE_FUNCTION uint axle_quantised_word(const AXLE_GLOBAL uchar* x, uint x_type, ulong row_begin,
                                       uint i, uint k, float inverse, uint planes, uint plane) {
  uint word = 0;
  for (uint j = 0; j < 4U; ++j) {
    int q = 0;
    if (i + j < k && inverse != 0.0F)
      q = axle_round(axle_multiply(axle_load(x, x_type, row_begin + i + j), inverse));
    if (planes == 2U) {
      const int high = (q + 128) >> 8;
      q = plane == 0U ? high : q - high * 256;
    }
    word |= ((uint)q & 0xffU) << (8U * j);
  }
  return word;
}

// A block a row: values [planes][rows][words] and a scale. A row that is not finite becomes zeros
// with a NaN as their scale; one below 2^-100, zeros.
AXLE_KERNEL(axle_quantise, AXLE_QUANTISE_THREADS)
(const AXLE_GLOBAL uchar* x, AXLE_GLOBAL uint* values, AXLE_GLOBAL float* row_scales, uint x_type,
 uint k, uint words, uint planes, uint rows) {
  AXLE_SHARED(uint, largest, AXLE_QUANTISE_THREADS);
  AXLE_SHARED(float, inverse, 1);
  const uint row = AXLE_BLOCK_X;
  const ulong begin = (ulong)row * k;
  AXLE_EACH_THREAD(AXLE_QUANTISE_THREADS) {
    uint most = 0;
    for (uint i = thread; i < k; i += AXLE_QUANTISE_THREADS) {
      const uint magnitude = axle_bits(axle_load(x, x_type, begin + i)) & 0x7fffffffU;
      most = magnitude > most ? magnitude : most;
    }
    largest[thread] = most;
  }
  AXLE_BARRIER();
  AXLE_EACH_THREAD(AXLE_QUANTISE_THREADS) {
    if (thread == 0U) {
      const float steps = planes == 2U ? 32512.0F : 127.0F;
      const uint infinity = 0x7f800000U;
      const uint negligible = (127U - 100U) << 23;
      uint most = 0;
      for (uint i = 0; i < AXLE_QUANTISE_THREADS; ++i) most = largest[i] > most ? largest[i] : most;
      if (most >= negligible && most < infinity) {
        inverse[0] = axle_divide(steps, axle_float(most));
        row_scales[row] = axle_divide(axle_float(most), steps);
      } else {
        inverse[0] = 0.0F;
        row_scales[row] = axle_float(most >= infinity ? 0x7fc00000U : 0U);
      }
    }
  }
  AXLE_BARRIER();
  AXLE_EACH_THREAD(AXLE_QUANTISE_THREADS) {
    for (uint word = thread; word < words; word += AXLE_QUANTISE_THREADS) {
      for (uint plane = 0; plane < planes; ++plane)
        values[((ulong)plane * rows + row) * words + word] =
            axle_quantised_word(x, x_type, begin, 4U * word, k, inverse[0], planes, plane);
    }
  }
}

// --- weights ------------------------------------------------------------------------------------

// Four 4-bit weights u, one a byte, as w = u - 8. With its highest bit set no byte borrows.
AXLE_FUNCTION uint axle_signed_nibbles(uint nibbles) {
  return ((nibbles | 0x80808080U) - 0x08080808U) ^ 0x80808080U;
}

// (u - 8) * factor: u * factor is at most 225 and stays in its byte; bytes are then subtracted
// without borrowing.
AXLE_FUNCTION uint axle_scaled_nibbles(uint nibbles, uint factor) {
  const uint sign = 0x80808080U;
  const uint product = nibbles * factor;
  const uint eightfold = 8U * factor * 0x01010101U;
  return ((product | sign) - (eightfold & ~sign)) ^ ((product ^ ~eightfold) & sign);
}

// Of a word of 4-bit weights those of step i (upper 0) or i + 8 (upper 1).
AXLE_FUNCTION uint axle_nibbles(uint word, uint upper) {
  return (word >> (4U * upper)) & 0x0f0f0f0fU;
}

// The scale of a group of a column, bfloat16.
AXLE_FUNCTION float axle_group_scale(const AXLE_GLOBAL uchar* side, ulong i) {
  return axle_float((uint)((const AXLE_GLOBAL ushort*)side)[i] << 16);
}

// --- the end ------------------------------------------------------------------------------------

AXLE_FUNCTION float axle_of_planes(int high, int low, uint planes) {
  const float sum = (float)high;
  return planes == 2U ? axle_add(axle_multiply(sum, 256.0F), (float)low) : sum;
}

// 256 high + low fits int32 for a group of weights.
AXLE_FUNCTION float axle_of_group(int high, int low, uint planes) {
  return (float)(planes == 2U ? 256 * high + low : high);
}

AXLE_FUNCTION void axle_put(float sum, float scale, const AXLE_GLOBAL float* bias, uint has_bias,
                            uint row, uint column, uint n, AXLE_GLOBAL float* y) {
  float result;
  if (column >= n) return;
  result = axle_multiply(sum, scale);
  y[(ulong)row * n + column] = has_bias != 0U ? axle_add(result, bias[column]) : result;
}

// --- few rows -----------------------------------------------------------------------------------

// The rows of a block of threads.
typedef struct {
  const AXLE_GLOBAL uint* values;
  uint words;
  uint rows;
  uint first;
  uint count;
  uint planes;
} AxleRows;

AXLE_FUNCTION AxleRows axle_rows(const AXLE_GLOBAL uint* values, uint words, uint rows,
                                 uint planes) {
  AxleRows own;
  own.values = values;
  own.words = words;
  own.rows = rows;
  own.first = AXLE_BLOCK_Y * AXLE_DOT_ROWS;
  own.count = rows - own.first < AXLE_DOT_ROWS ? rows - own.first : AXLE_DOT_ROWS;
  own.planes = planes;
  return own;
}

AXLE_FUNCTION void axle_clear(int (*sums)[4]) {
  AXLE_UNROLL
  for (uint line = 0; line < AXLE_DOT_LINES; ++line) {
    AXLE_UNROLL
    for (uint c = 0; c < 4U; ++c) sums[line][c] = 0;
  }
}

// Adds the products of a step of all lines with four columns. Line 4 * plane + row.
AXLE_FUNCTION void axle_add_step(AxleRows own, uint step, uint4 weight, int (*sums)[4]) {
  AXLE_UNROLL
  for (uint line = 0; line < AXLE_DOT_LINES; ++line) {
    const uint plane = line / AXLE_DOT_ROWS;
    const uint r = line % AXLE_DOT_ROWS;
    if (plane < own.planes && r < own.count) {
      const uint four = own.values[((ulong)plane * own.rows + own.first + r) * own.words + step];
      sums[line][0] = axle_dot(weight.x, four, sums[line][0]);
      sums[line][1] = axle_dot(weight.y, four, sums[line][1]);
      sums[line][2] = axle_dot(weight.z, four, sums[line][2]);
      sums[line][3] = axle_dot(weight.w, four, sums[line][3]);
    }
  }
}

AXLE_FUNCTION void axle_keep(const int (*sums)[4], uint thread, AXLE_SHARED_POINTER(int) partial) {
  const uint slice = thread / AXLE_DOT_SIDE;
  const uint column = thread % AXLE_DOT_SIDE * 4U;
  AXLE_UNROLL
  for (uint line = 0; line < AXLE_DOT_LINES; ++line) {
    AXLE_UNROLL
    for (uint c = 0; c < 4U; ++c)
      partial[(line * AXLE_DOT_SLICES + slice) * AXLE_DOT_COLUMNS + column + c] = sums[line][c];
  }
}

AXLE_FUNCTION int axle_sum_of_slices(AXLE_SHARED_POINTER(const int) partial, uint line,
                                     uint column) {
  int sum = 0;
  for (uint slice = 0; slice < AXLE_DOT_SLICES; ++slice)
    sum += partial[(line * AXLE_DOT_SLICES + slice) * AXLE_DOT_COLUMNS + column];
  return sum;
}

// What is left for thread: the row and the column whose sums over all slices it brings to an end.
AXLE_FUNCTION void axle_put_sums(AxleRows own, uint thread, AXLE_SHARED_POINTER(const int) partial,
                                 const AXLE_GLOBAL float* scales, const AXLE_GLOBAL float* bias,
                                 uint has_bias, const AXLE_GLOBAL float* row_scales, uint n,
                                 AXLE_GLOBAL float* y) {
  const uint r = thread / AXLE_DOT_COLUMNS;
  const uint own_column = thread % AXLE_DOT_COLUMNS;
  const uint column = AXLE_BLOCK_X * AXLE_DOT_COLUMNS + own_column;
  int high;
  int low;
  if (r >= own.count) return;
  high = axle_sum_of_slices(partial, r, own_column);
  low = own.planes == 2U ? axle_sum_of_slices(partial, AXLE_DOT_ROWS + r, own_column) : 0;
  axle_put(axle_of_planes(high, low, own.planes),
           axle_multiply(row_scales[own.first + r], scales[column]), bias, has_bias, own.first + r,
           column, n, y);
}

// Blocks of threads: (columns / 16, rows / 4), rounded up.
AXLE_KERNEL(axle_multiply_int8, AXLE_DOT_THREADS) AXLE_LAYER_PARAMETERS {
  AXLE_SHARED(int, partial, AXLE_DOT_LINES* AXLE_DOT_SLICES* AXLE_DOT_COLUMNS);
  const AxleRows own = axle_rows(values, words, rows, planes);
  const uint block = AXLE_BLOCK_X / (AXLE_BLOCK_COLUMNS / AXLE_DOT_COLUMNS);
  const uint quarter = AXLE_BLOCK_X % (AXLE_BLOCK_COLUMNS / AXLE_DOT_COLUMNS);
  (void)side;
  (void)group;
  AXLE_EACH_THREAD(AXLE_DOT_THREADS) {
    const AXLE_GLOBAL uint4* from = (const AXLE_GLOBAL uint4*)weights +
                                    (ulong)block * words * (AXLE_BLOCK_COLUMNS / 4) +
                                    quarter * AXLE_DOT_SIDE + thread % AXLE_DOT_SIDE;
    int sums[AXLE_DOT_LINES][4];
    axle_clear(sums);
    for (uint step = thread / AXLE_DOT_SIDE; step < words; step += AXLE_DOT_SLICES)
      axle_add_step(own, step, from[(ulong)step * (AXLE_BLOCK_COLUMNS / 4)], sums);
    axle_keep(sums, thread, partial);
  }
  AXLE_BARRIER();
  AXLE_EACH_THREAD(AXLE_DOT_THREADS) {
    axle_put_sums(own, thread, partial, scales, bias, has_bias, row_scales, n, y);
  }
}

AXLE_FUNCTION uint4 axle_scaled_columns(uint4 word, uint upper, uint factors) {
  uint4 weight;
  const uint shift = 4U * upper;
  weight.x = axle_scaled_nibbles(axle_nibbles(word.x, upper), (factors >> shift) & 15U);
  weight.y = axle_scaled_nibbles(axle_nibbles(word.y, upper), (factors >> (8U + shift)) & 15U);
  weight.z = axle_scaled_nibbles(axle_nibbles(word.z, upper), (factors >> (16U + shift)) & 15U);
  weight.w = axle_scaled_nibbles(axle_nibbles(word.w, upper), (factors >> (24U + shift)) & 15U);
  return weight;
}

AXLE_KERNEL(axle_multiply_two_level, AXLE_DOT_THREADS) AXLE_LAYER_PARAMETERS {
  AXLE_SHARED(int, partial, AXLE_DOT_LINES* AXLE_DOT_SLICES* AXLE_DOT_COLUMNS);
  const AxleRows own = axle_rows(values, words, rows, planes);
  const uint block = AXLE_BLOCK_X / (AXLE_BLOCK_COLUMNS / AXLE_DOT_COLUMNS);
  const uint quarter = AXLE_BLOCK_X % (AXLE_BLOCK_COLUMNS / AXLE_DOT_COLUMNS);
  (void)group;
  AXLE_EACH_THREAD(AXLE_DOT_THREADS) {
    const uint column = quarter * AXLE_DOT_SIDE + thread % AXLE_DOT_SIDE;
    const AXLE_GLOBAL uint4* from = (const AXLE_GLOBAL uint4*)weights +
                                    (ulong)block * (words / 2U) * (AXLE_BLOCK_COLUMNS / 4) + column;
    const AXLE_GLOBAL uint* factors =
        (const AXLE_GLOBAL uint*)side +
        (ulong)block * (words / AXLE_SLAB_STEPS) * (AXLE_BLOCK_COLUMNS / 4) + column;
    int sums[AXLE_DOT_LINES][4];
    axle_clear(sums);
    for (uint i = thread / AXLE_DOT_SIDE; i < words / 2U; i += AXLE_DOT_SLICES) {
      const uint4 word = from[(ulong)i * (AXLE_BLOCK_COLUMNS / 4)];
      const uint slab = i / AXLE_SLAB_WORDS;
      const uint four = factors[(ulong)slab * (AXLE_BLOCK_COLUMNS / 4)];
      const uint step = slab * AXLE_SLAB_STEPS + i % AXLE_SLAB_WORDS;
      axle_add_step(own, step, axle_scaled_columns(word, 0U, four), sums);
      axle_add_step(own, step + AXLE_SLAB_WORDS, axle_scaled_columns(word, 1U, four), sums);
    }
    axle_keep(sums, thread, partial);
  }
  AXLE_BARRIER();
  AXLE_EACH_THREAD(AXLE_DOT_THREADS) {
    axle_put_sums(own, thread, partial, scales, bias, has_bias, row_scales, n, y);
  }
}

AXLE_FUNCTION uint4 axle_signed_columns(uint4 word, uint upper) {
  uint4 weight;
  weight.x = axle_signed_nibbles(axle_nibbles(word.x, upper));
  weight.y = axle_signed_nibbles(axle_nibbles(word.y, upper));
  weight.z = axle_signed_nibbles(axle_nibbles(word.z, upper));
  weight.w = axle_signed_nibbles(axle_nibbles(word.w, upper));
  return weight;
}

// The products of half a slab, 32 k from step 16 * slab + 8 * upper on.
AXLE_FUNCTION void axle_add_half_slab(AxleRows own, const AXLE_GLOBAL uint4* from, uint slab,
                                      uint upper, int (*sums)[4]) {
  for (uint i = 0; i < AXLE_SLAB_WORDS; ++i) {
    const uint4 word = from[((ulong)slab * AXLE_SLAB_WORDS + i) * (AXLE_BLOCK_COLUMNS / 4)];
    axle_add_step(own, slab * AXLE_SLAB_STEPS + upper * AXLE_SLAB_WORDS + i,
                  axle_signed_columns(word, upper), sums);
  }
}

// The groups of an int4 layer. A unit is what a thread takes at a time: as many k as a group and a
// slab have at least.
typedef struct {
  uint size;
  uint count;
  uint unit_groups;
  uint unit_halves;
  uint units;
} AxleGroups;

AXLE_FUNCTION AxleGroups axle_groups(uint words, uint group) {
  AxleGroups groups;
  groups.size = group;
  groups.count = 4U * words / group;
  groups.unit_groups = group == 32U ? 2U : 1U;
  groups.unit_halves = group == 128U ? 4U : 2U;
  groups.units = groups.count / groups.unit_groups;
  return groups;
}

// Where the term of a slice's group, of `part` of its unit, lies for row r and a column.
AXLE_FUNCTION uint axle_term(uint slice, uint part, uint r, uint column) {
  return ((slice * 2U + part) * AXLE_DOT_ROWS + r) * AXLE_DOT_COLUMNS + column;
}

// The sums of a group become floats, by its scales of four columns.
AXLE_FUNCTION void axle_keep_terms(const int (*sums)[4], uint planes, const AXLE_GLOBAL uchar* side,
                                   ulong first_scale, uint at, AXLE_SHARED_POINTER(float) terms) {
  AXLE_UNROLL
  for (uint c = 0; c < 4U; ++c) {
    const float scale = axle_group_scale(side, first_scale + c);
    AXLE_UNROLL
    for (uint r = 0; r < AXLE_DOT_ROWS; ++r)
      terms[at + r * AXLE_DOT_COLUMNS + c] =
          axle_multiply(axle_of_group(sums[r][c], sums[AXLE_DOT_ROWS + r][c], planes), scale);
  }
}

// The terms of a unit of four columns of block `block`, from `column` on.
AXLE_FUNCTION void axle_compute_unit(AxleRows own, AxleGroups groups,
                                     const AXLE_GLOBAL uint* weights, const AXLE_GLOBAL uchar* side,
                                     uint block, uint column, uint unit,
                                     AXLE_SHARED_POINTER(float) terms) {
  const AXLE_GLOBAL uint4* from = (const AXLE_GLOBAL uint4*)weights +
                                  (ulong)block * (own.words / 2U) * (AXLE_BLOCK_COLUMNS / 4) +
                                  column / 4U;
  for (uint part = 0; part < groups.unit_groups; ++part) {
    const ulong group_of_all = (ulong)block * groups.count + unit * groups.unit_groups + part;
    int sums[AXLE_DOT_LINES][4];
    axle_clear(sums);
    for (uint i = 0; i < groups.unit_halves / groups.unit_groups; ++i) {
      const uint at = unit * groups.unit_halves + part + i;
      axle_add_half_slab(own, from, at / 2U, at % 2U, sums);
    }
    axle_keep_terms(sums, own.planes, side, group_of_all * AXLE_BLOCK_COLUMNS + column,
                    axle_term(unit % AXLE_DOT_SLICES, part, 0U, column % AXLE_DOT_COLUMNS), terms);
  }
}

// The terms of the units from `first` on that all slices have, in the order of the groups.
AXLE_FUNCTION float axle_add_terms(float total, AxleGroups groups, uint first, uint thread,
                                   AXLE_SHARED_POINTER(const float) terms) {
  for (uint slice = 0; slice < AXLE_DOT_SLICES && first + slice < groups.units; ++slice) {
    for (uint part = 0; part < groups.unit_groups; ++part)
      total = axle_add(
          total,
          terms[axle_term(slice, part, thread / AXLE_DOT_COLUMNS, thread % AXLE_DOT_COLUMNS)]);
  }
  return total;
}

AXLE_KERNEL(axle_multiply_int4, AXLE_DOT_THREADS) AXLE_LAYER_PARAMETERS {
  AXLE_SHARED(float, terms, 2 * AXLE_DOT_SLICES * AXLE_DOT_ROWS * AXLE_DOT_COLUMNS);
  AXLE_SHARED(float, totals, AXLE_DOT_ROWS* AXLE_DOT_COLUMNS);
  const AxleRows own = axle_rows(values, words, rows, planes);
  const AxleGroups groups = axle_groups(words, group);
  const uint block = AXLE_BLOCK_X / (AXLE_BLOCK_COLUMNS / AXLE_DOT_COLUMNS);
  const uint quarter = AXLE_BLOCK_X % (AXLE_BLOCK_COLUMNS / AXLE_DOT_COLUMNS);
  (void)scales;
  AXLE_EACH_THREAD(AXLE_DOT_THREADS) {
    if (thread < AXLE_DOT_ROWS * AXLE_DOT_COLUMNS) totals[thread] = 0.0F;
  }
  AXLE_BARRIER();
  for (uint first = 0; first < groups.units; first += AXLE_DOT_SLICES) {
    AXLE_EACH_THREAD(AXLE_DOT_THREADS) {
      const uint unit = first + thread / AXLE_DOT_SIDE;
      const uint column = (quarter * AXLE_DOT_SIDE + thread % AXLE_DOT_SIDE) * 4U;
      if (unit < groups.units)
        axle_compute_unit(own, groups, weights, side, block, column, unit, terms);
    }
    AXLE_BARRIER();
    AXLE_EACH_THREAD(AXLE_DOT_THREADS) {
      if (thread < AXLE_DOT_ROWS * AXLE_DOT_COLUMNS)
        totals[thread] = axle_add_terms(totals[thread], groups, first, thread, terms);
    }
    AXLE_BARRIER();
  }
  AXLE_EACH_THREAD(AXLE_DOT_THREADS) {
    const uint r = thread / AXLE_DOT_COLUMNS;
    if (r < own.count)
      axle_put(totals[thread], row_scales[own.first + r], bias, has_bias, own.first + r,
               AXLE_BLOCK_X * AXLE_DOT_COLUMNS + thread % AXLE_DOT_COLUMNS, n, y);
  }
}

// linear_steps.h and matrix_steps.h as CUDA C++. Each step in float is an intrinsic that is rounded
// by itself and never fused.

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define AXLE_KERNEL(name, threads) extern "C" __global__ void __launch_bounds__(threads) name
#define AXLE_FUNCTION __device__ __forceinline__
#define AXLE_GLOBAL
#define AXLE_SHARED(type, name, count) __shared__ type name[count]
#define AXLE_SHARED_POINTER(type) type*
#define AXLE_PRIVATE(type, name, threads) type name
#define AXLE_OWN(name) name
#define AXLE_EACH_THREAD(threads) \
  for (uint thread = threadIdx.x, turn = 0; turn == 0; turn = 1, (void)thread)
#define AXLE_BARRIER() __syncthreads()
#define AXLE_BLOCK_X blockIdx.x
#define AXLE_BLOCK_Y blockIdx.y
#define AXLE_UNROLL _Pragma("unroll")

AXLE_FUNCTION uint axle_bits(float v) { return __float_as_uint(v); }
AXLE_FUNCTION float axle_float(uint bits) { return __uint_as_float(bits); }
AXLE_FUNCTION float axle_add(float a, float b) { return __fadd_rn(a, b); }
AXLE_FUNCTION float axle_multiply(float a, float b) { return __fmul_rn(a, b); }
AXLE_FUNCTION int axle_dot(uint weight, uint activation, int sum) {
  return __dp4a(static_cast<int>(weight), static_cast<int>(activation), sum);
}

AXLE_FUNCTION void axle_multiply_tile(int (&sums)[4], const uint (&rows)[4],
                                      const uint (&weights)[2]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(weights[0]), "r"(weights[1]));
}

// Of all threads of a warp together: adds what each has loaded to the sums of all planes and tiles.
template <class Tile>
AXLE_FUNCTION void axle_multiply_tiles(Tile& own, uint planes) {
  constexpr uint tiles = sizeof own.weights / sizeof own.weights[0];
  AXLE_UNROLL
  for (uint plane = 0; plane < 2; ++plane) {
    if (plane >= planes) continue;
    AXLE_UNROLL
    for (uint t = 0; t < tiles; ++t)
      axle_multiply_tile(own.sums[plane][t], own.rows[plane], own.weights[t]);
  }
}

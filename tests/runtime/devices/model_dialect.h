#pragma once
// The kernels of runtime/devices/code on the CPU, for tests: the dialect that linear_steps.h and
// matrix_steps.h take instead of CUDA's. A block of threads runs on one thread of the CPU, each
// part of it thread by thread, forwards or backwards: what comes out must not depend on that.
// Shared and private memory begins with bytes that no kernel may take for something. The matrix
// instruction is that of the PTX ISA ("Matrix Fragments for mma.m16n8k32"), bit for bit.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace axle::runtime::model {

using uchar = std::uint8_t;
using ushort = std::uint16_t;
using uint = std::uint32_t;
using ulong = std::uint64_t;

struct uint4 {
  uint x;
  uint y;
  uint z;
  uint w;
};

/// Which block runs, and in which order its threads.
struct Block {
  uint x = 0;
  uint y = 0;
  bool backwards = false;
  bool has_shared = false;
  bool at_barrier = true;
};
inline thread_local Block block_of_threads;

/// The parts of a block with shared memory have a barrier between them. Returns 0.
inline uint begin_part() {
  if (block_of_threads.has_shared && !block_of_threads.at_barrier) {
    std::fprintf(stderr, "two parts of a kernel without a barrier between them\n");
    std::abort();
  }
  block_of_threads.at_barrier = false;
  return 0;
}

inline uint thread_of_turn(uint turn, uint threads) {
  return block_of_threads.backwards ? threads - 1 - turn : turn;
}

template <class T>
void spoil(T& memory) {
  std::memset(static_cast<void*>(&memory), 0xa5, sizeof memory);
}

#define AXLE_KERNEL(name, threads) inline void name
#define AXLE_FUNCTION inline
#define AXLE_GLOBAL
#define AXLE_SHARED(type, name, count) \
  type name[count];                    \
  spoil(name);                         \
  block_of_threads.has_shared = true
#define AXLE_SHARED_POINTER(type) type*
#define AXLE_PRIVATE(type, name, threads) \
  type name[threads];                     \
  spoil(name)
#define AXLE_OWN(name) name[thread]
#define AXLE_EACH_THREAD(threads)                                                       \
  for (uint turn = begin_part(), thread = thread_of_turn(0, threads); turn < (threads); \
       ++turn, thread = thread_of_turn(turn, threads), (void)thread)
#define AXLE_BARRIER() block_of_threads.at_barrier = true
#define AXLE_BLOCK_X block_of_threads.x
#define AXLE_BLOCK_Y block_of_threads.y
#define AXLE_UNROLL

inline uint axle_bits(float v) {
  uint bits = 0;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
inline float axle_float(uint bits) {
  float v = 0;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
inline float axle_add(float a, float b) { return a + b; }
inline float axle_multiply(float a, float b) { return a * b; }

inline int signed_byte(uint word, uint i) {
  return static_cast<std::int8_t>(static_cast<uchar>(word >> (8 * i)));
}

/// Modulo 2^32, as the instruction has it.
inline int axle_dot(uint weight, uint activation, int sum) {
  uint result = static_cast<uint>(sum);
  for (uint i = 0; i < 4; ++i)
    result += static_cast<uint>(signed_byte(weight, i) * signed_byte(activation, i));
  return static_cast<int>(result);
}

/// Element (row, k) of A lies with lane row % 8 * 4 + k % 16 / 4, in register k / 16 * 2 + row / 8,
/// byte k % 4; (k, column) of B with lane column * 4 + k % 16 / 4, in register k / 16; (row,
/// column) of the sums with lane row % 8 * 4 + column / 2, in register row / 8 * 2 + column % 2.
template <class Tile>
void multiply_tile(Tile* lanes, uint plane, uint tile) {
  for (uint row = 0; row < 16; ++row) {
    for (uint column = 0; column < 8; ++column) {
      int& sum = lanes[row % 8 * 4 + column / 2].sums[plane][tile][row / 8 * 2 + column % 2];
      uint result = static_cast<uint>(sum);
      for (uint k = 0; k < 32; ++k) {
        const uint a = lanes[row % 8 * 4 + k % 16 / 4].rows[plane][k / 16 * 2 + row / 8];
        const uint b = lanes[column * 4 + k % 16 / 4].weights[tile][k / 16];
        result += static_cast<uint>(signed_byte(a, k % 4) * signed_byte(b, k % 4));
      }
      sum = static_cast<int>(result);
    }
  }
}

/// All warps of a block, each together.
template <class Tile, std::size_t threads>
void axle_multiply_tiles(Tile (&all)[threads], uint planes) {
  constexpr uint tiles = sizeof all[0].weights / sizeof all[0].weights[0];
  for (std::size_t warp = 0; warp < threads; warp += 32) {
    for (uint plane = 0; plane < planes; ++plane)
      for (uint tile = 0; tile < tiles; ++tile) multiply_tile(all + warp, plane, tile);
  }
}

}  // namespace axle::runtime::model

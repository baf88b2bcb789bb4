#pragma once
// A software model of the AMX-INT8 tile instructions (Intel SDM vol. 2: LDTILECFG, TILELOADD,
// TILESTORED, TILEZERO, TILERELEASE, TDPBSSD, TDPBF16PS), bit for bit. Stands in for the intrinsics
// when runtime/kernels/amx_int8.cpp is compiled with AXLE_TILE_MODEL. Where the CPU raises #UD or
// #GP, the model aborts.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#define AXLE_VECTOR_BYTES 64
#include "runtime/kernels/vector_portable.h"

#define AXLE_TILE_TARGET
#define AXLE_TILE_VECTOR_TARGET

namespace axle::runtime {
namespace {

struct TileModel {
  static constexpr int tiles = 8;
  static constexpr int most_rows = 16;
  static constexpr int most_bytes = 64;

  bool configured = false;
  int rows[tiles] = {};
  int row_bytes[tiles] = {};
  std::uint8_t data[tiles][most_rows][most_bytes] = {};

  static void require(bool legal) {
    if (!legal) std::abort();
  }

  void check(int tile) const {
    require(configured && tile >= 0 && tile < tiles && rows[tile] > 0 && row_bytes[tile] > 0);
  }

  void keep_configuration(void* to) const {
    std::uint8_t bytes[64] = {};
    bytes[0] = configured ? 1 : 0;
    for (int tile = 0; tile < tiles; ++tile) {
      bytes[16 + 2 * tile] = static_cast<std::uint8_t>(row_bytes[tile]);
      bytes[48 + tile] = static_cast<std::uint8_t>(rows[tile]);
    }
    std::memcpy(to, bytes, sizeof bytes);
  }

  void configure(const void* from) {
    std::uint8_t bytes[64];
    std::memcpy(bytes, from, sizeof bytes);
    *this = TileModel{};
    if (bytes[0] == 0) return;
    require(bytes[0] == 1);
    for (int i = 2; i < 16; ++i) require(bytes[i] == 0);
    for (int tile = 0; tile < most_rows; ++tile) {
      const int width = bytes[16 + 2 * tile] | bytes[17 + 2 * tile] << 8;
      const int height = bytes[48 + tile];
      if (tile >= tiles) {
        require(width == 0 && height == 0);
        continue;
      }
      require(width <= most_bytes && height <= most_rows && (width == 0) == (height == 0));
      row_bytes[tile] = width;
      rows[tile] = height;
    }
    configured = true;
  }

  void zero(int tile) {
    check(tile);
    std::memset(data[tile], 0, sizeof data[tile]);
  }

  void load(int tile, const void* from, std::ptrdiff_t stride) {
    zero(tile);
    for (int r = 0; r < rows[tile]; ++r)
      std::memcpy(data[tile][r], static_cast<const char*>(from) + r * stride,
                  static_cast<std::size_t>(row_bytes[tile]));
  }

  void store(int tile, void* to, std::ptrdiff_t stride) const {
    check(tile);
    for (int r = 0; r < rows[tile]; ++r)
      std::memcpy(static_cast<char*>(to) + r * stride, data[tile][r],
                  static_cast<std::size_t>(row_bytes[tile]));
  }

  static std::int32_t signed_byte(std::uint8_t byte) { return static_cast<std::int8_t>(byte); }

  /// sum(m, n, the four bytes that are there): the new ones.
  template <class Sum>
  void each_sum(int sums, int a, int b, Sum sum) {
    check(sums);
    check(a);
    check(b);
    require(sums != a && sums != b && a != b);
    require(rows[sums] == rows[a] && row_bytes[sums] == row_bytes[b]);
    require(row_bytes[a] == 4 * rows[b] && row_bytes[a] % 4 == 0 && row_bytes[b] % 4 == 0);
    for (int m = 0; m < rows[sums]; ++m) {
      for (int n = 0; n < row_bytes[sums] / 4; ++n) {
        std::uint32_t bits;
        std::memcpy(&bits, data[sums][m] + 4 * n, 4);
        bits = sum(m, n, bits);
        std::memcpy(data[sums][m] + 4 * n, &bits, 4);
      }
    }
    std::memset(data[sums][rows[sums]], 0,
                static_cast<std::size_t>(most_rows - rows[sums]) * most_bytes);
  }

  void dot_int8(int sums, int a, int b) {
    each_sum(sums, a, b, [&](int m, int n, std::uint32_t sum) {
      for (int k = 0; k < row_bytes[a]; ++k)
        sum += static_cast<std::uint32_t>(signed_byte(data[a][m][k]) *
                                          signed_byte(data[b][k / 4][4 * n + k % 4]));
      return sum;
    });
  }

  /// Subnormal numbers count, and come out, as zero.
  static float flushed(float v) {
    return std::fabs(v) < std::numeric_limits<float>::min() ? std::copysign(0.0F, v) : v;
  }

  float bfloat16(int tile, int row, int byte) const {
    std::uint16_t upper;
    std::memcpy(&upper, data[tile][row] + byte, 2);
    return flushed(std::bit_cast<float>(std::uint32_t{upper} << 16U));
  }

  void dot_bfloat16(int sums, int a, int b) {
    each_sum(sums, a, b, [&](int m, int n, std::uint32_t bits) {
      float parts[2] = {0, 0};
      for (int k = 0; k < row_bytes[a] / 4; ++k) {
        for (int i = 0; i < 2; ++i)
          parts[i] = flushed(
              std::fma(bfloat16(a, m, 4 * k + 2 * i), bfloat16(b, k, 4 * n + 2 * i), parts[i]));
      }
      const float sum = flushed(parts[0] + parts[1]);
      return std::bit_cast<std::uint32_t>(flushed(flushed(std::bit_cast<float>(bits)) + sum));
    });
  }
};

thread_local TileModel tile_model;

}  // namespace
}  // namespace axle::runtime

#define tile_configure(from) tile_model.configure(from)
#define tile_keep_configuration(to) tile_model.keep_configuration(to)
#define tile_zero(tile) tile_model.zero(tile)
#define tile_load(tile, from, stride) \
  tile_model.load(tile, from, static_cast<std::ptrdiff_t>(stride))
#define tile_store(tile, to, stride) tile_model.store(tile, to, static_cast<std::ptrdiff_t>(stride))
#define tile_dot_int8(sums, a, b) tile_model.dot_int8(sums, a, b)
#define tile_dot_bfloat16(sums, a, b) tile_model.dot_bfloat16(sums, a, b)

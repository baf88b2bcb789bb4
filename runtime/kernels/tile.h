#pragma once
// The AMX tile instructions under names of ours. A test program that defines AXLE_TILE_MODEL gets
// the software model instead, so that the same kernel source runs where there is no AMX.
// It comes with the vectors that the float steps run on. Operands are literal tile numbers (the
// intrinsics put them into the instruction's text).

#ifdef AXLE_TILE_MODEL
#include "tests/runtime/tile_model.h"
#else

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#include "runtime/kernels/vector_avx512.h"

#define AXLE_TILE_TARGET [[gnu::target("amx-tile,amx-int8,amx-bf16")]]
#define AXLE_TILE_VECTOR_TARGET [[gnu::target("amx-tile,amx-int8,amx-bf16,avx512f,avx512bw")]]
#define tile_configure(from) _tile_loadconfig(from)
#define tile_keep_configuration(to) _tile_storeconfig(to)
#define tile_zero(tile) _tile_zero(tile)
#define tile_load(tile, from, stride) _tile_loadd(tile, from, stride)
#define tile_store(tile, to, stride) _tile_stored(tile, to, stride)
#define tile_dot_int8(sums, a, b) _tile_dpbssd(sums, a, b)
#define tile_dot_bfloat16(sums, a, b) _tile_dpbf16ps(sums, a, b)

#endif

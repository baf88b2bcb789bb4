#include "tests/bench/limits/peak_rates.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "runtime/kernel_table.h"

namespace axle::bench {
namespace {

/// Some ten milliseconds: starting a thread takes a tenth of one.
constexpr int passes = 1 << 22;

/// A loop over independent instructions, and the operations that a pass has.
struct Loop {
  std::string_view kernel;
  void (*run)();
  double operations_a_pass;
};

#ifdef __x86_64__

// Sums in registers 2 to 13: more than a product of four or five cycles needs, twice a cycle.
#define AXLE_TWELVE(one) \
  one(2) one(3) one(4) one(5) one(6) one(7) one(8) one(9) one(10) one(11) one(12) one(13)
#define AXLE_CLOBBERS                                                                      \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13"

[[gnu::target("avx512f,avx512vnni")]] void zmm_loop() {
#define AXLE_ONE(sum) "vpdpbusd %%zmm0, %%zmm1, %%zmm" #sum "\n\t"
  asm volatile("vpxord %%zmm0, %%zmm0, %%zmm0\n\tvpxord %%zmm1, %%zmm1, %%zmm1" ::: AXLE_CLOBBERS);
  for (int i = 0; i < passes; ++i) asm volatile(AXLE_TWELVE(AXLE_ONE)::: AXLE_CLOBBERS);
#undef AXLE_ONE
}

[[gnu::target("avxvnni")]] void ymm_loop() {
#define AXLE_ONE(sum) "%{vex%} vpdpbusd %%ymm0, %%ymm1, %%ymm" #sum "\n\t"
  asm volatile("vpxor %%ymm0, %%ymm0, %%ymm0\n\tvpxor %%ymm1, %%ymm1, %%ymm1" ::: AXLE_CLOBBERS);
  for (int i = 0; i < passes; ++i) asm volatile(AXLE_TWELVE(AXLE_ONE)::: AXLE_CLOBBERS);
#undef AXLE_ONE
}

/// Two tiles of rows times two of columns, as the kernel has them.
[[gnu::target("amx-tile,amx-int8")]] void tile_loop() {
  alignas(64) std::uint8_t configuration[64] = {1};
  for (int tile = 0; tile < 8; ++tile) {
    configuration[16 + 2 * tile] = 64;
    configuration[48 + tile] = 16;
  }
  asm volatile("ldtilecfg %0" ::"m"(configuration));
  for (int i = 0; i < passes / 8; ++i)
    asm volatile(
        "tdpbssd %%tmm6, %%tmm4, %%tmm0\n\ttdpbssd %%tmm7, %%tmm4, %%tmm1\n\t"
        "tdpbssd %%tmm6, %%tmm5, %%tmm2\n\ttdpbssd %%tmm7, %%tmm5, %%tmm3" ::);
  asm volatile("tilerelease" ::);
}

constexpr Loop loops[] = {{"avx512_vnni", zmm_loop, 12.0 * 64 * 2},
                          {"avx_vnni", ymm_loop, 12.0 * 32 * 2},
                          {"amx_int8", tile_loop, 4.0 * 16 * 16 * 64 * 2 / 8}};

#else
constexpr std::vector<Loop> loops;
#endif

double seconds(const Loop& loop, int threads) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(loop.run);
  for (std::thread& thread : running) thread.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double peak_gigaops(std::string_view kernel, int threads) {
  const auto* const loop = std::ranges::find(loops, kernel, &Loop::kernel);
  const runtime::KernelRow* const row = runtime::find_kernel(kernel);
  if (loop == std::end(loops) || row == nullptr || !runtime::is_usable(*row) ||
      !runtime::is_permitted(*row))
    return 0;
  double best = seconds(*loop, threads);
  for (int round = 0; round < 20; ++round) best = std::min(best, seconds(*loop, threads));
  return loop->operations_a_pass * passes * threads / best / 1e9;
}

}  // namespace axle::bench

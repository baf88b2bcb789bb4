#include "runtime/read_probe.h"

#include <cstdint>

#include "runtime/machine/clock.h"

namespace axle::runtime {
namespace {

constexpr std::size_t piece = 4096;

}  // namespace

void fill_differently(void* to, std::size_t bytes) {
  std::uint64_t state = 88172645463325252ULL;
  std::uint64_t* const words = static_cast<std::uint64_t*>(to);
  for (std::size_t i = 0; i < bytes / 8; ++i) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    words[i] = state;
  }
}

bool ReadProbe::allocate(std::size_t parts, std::size_t bytes) {
  part_bytes_ = bytes < piece ? piece : bytes / piece * piece;
  parts_ = parts;
  memory_ = Memory(parts_ * part_bytes_);
  if (memory_.data() == nullptr) return false;
  fill_differently(memory_.data(), memory_.size());
  return true;
}

double ReadProbe::seconds(std::size_t part) {
  const char* const from = memory_.as<char>(part * part_bytes_);
  const KernelSet& set = *engine_.kernel_for(1).set;
  ThreadPool& pool = engine_.pool();
  const bool shared = pool.try_acquire();
  const std::size_t threads = shared ? static_cast<std::size_t>(pool.threads()) : 1;
  const std::size_t pieces = part_bytes_ / piece;
  std::atomic<std::uint32_t> most{0};
  auto read = [&](int thread) {
    const std::size_t t = static_cast<std::size_t>(thread);
    std::uint32_t largest = 0;
    for (std::size_t p = pieces * t / threads; p < pieces * (t + 1) / threads; ++p) {
      const std::uint32_t found = set.largest_magnitude(
          reinterpret_cast<const float*>(from + p * piece), piece / sizeof(float));
      if (found > largest) largest = found;
    }
    most.fetch_or(largest);
  };
  const double start = now();
  if (shared) {
    pool.run(read);
    pool.release();
  } else {
    read(0);
  }
  const double elapsed = now() - start;
  // The bytes are arbitrary: nothing but zeros would mean that they were not read.
  return most.load() == 0 ? 0 : elapsed;
}

}  // namespace axle::runtime

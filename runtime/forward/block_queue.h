#pragma once
// Which thread computes which column blocks of a forward pass.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/machine/thread_pool.h"

namespace axle::runtime {

/// The column blocks, a contiguous range for each thread; a thread that is done takes from the
/// others' ranges, so that one that the system has stopped does not hold up the pass.
class BlockQueue {
 public:
  BlockQueue(std::size_t blocks, std::size_t parts) : parts_(parts) {
    for (std::size_t p = 0; p < parts; ++p) {
      ranges_[p].next = blocks * p / parts;
      ranges_[p].end = blocks * (p + 1) / parts;
    }
  }

  bool take(std::size_t own, std::size_t& block) {
    for (std::size_t i = 0; i < parts_; ++i) {
      Range& range = ranges_[(own + i) % parts_];
      const std::atomic_ref<std::size_t> next(range.next);
      if (next.load(std::memory_order_relaxed) >= range.end) continue;
      block = next.fetch_add(1, std::memory_order_relaxed);
      if (block < range.end) return true;
    }
    return false;
  }

 private:
  struct alignas(64) Range {
    std::size_t next;  // no std::atomic, which would clear all of them for each pass
    std::size_t end;
  };
  std::size_t parts_;
  Range ranges_[ThreadPool::most_threads];
};

/// Halves of blocks, two for each, that any thread takes.
class HalvedBlocks {
 public:
  explicit HalvedBlocks(std::size_t halves) : halves_(halves) {}

  [[nodiscard]] std::size_t blocks() const { return halves_ / 2; }

  bool take(std::size_t& half) {
    if (next_.load(std::memory_order_relaxed) >= halves_) return false;
    half = next_.fetch_add(1, std::memory_order_relaxed);
    return half < halves_;
  }

  /// Whether the other half of the same block has been computed, and this one now.
  bool is_last(std::size_t half) {
    return computed_[half / 2].fetch_add(1, std::memory_order_acq_rel) == 1;
  }

 private:
  std::size_t halves_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint8_t> computed_[ThreadPool::most_threads / 2] = {};
};

}  // namespace axle::runtime

#pragma once
// One runtime: the kernel sets that this machine can run, best first, and the thread pool.

#include <atomic>
#include <cstddef>

#include "runtime/axle_runtime.h"
#include "runtime/kernel_table.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

namespace axle::runtime {

/// Fills `error` (which may be null) and returns `status`. `format` as printf has it.
[[gnu::format(printf, 3, 4)]] axle_status report_failure(axle_error* error, axle_status status,
                                                         const char* format, ...);

/// The names of the capabilities that the machine lacks for `row`, space separated, cut to `size`.
void list_missing(const KernelRow& row, char* to, std::size_t size);

/// Rows of quantised activations for one row of x.
[[nodiscard]] constexpr std::size_t planes_of(axle_mode mode) {
  return mode == AXLE_A16W8 || mode == AXLE_A16W4 ? 2 : 1;
}

class Engine {
 public:
  static constexpr std::size_t most_kernels = 16;

  explicit Engine(int threads) : pool_(threads > 0 ? threads : available_cpus()) {}

  /// `kernel` null or empty: all usable sets; else that one or an error.
  axle_status choose_kernels(const char* kernel, axle_error* error);

  /// That set alone, whatever the machine has: for a caller that knows that it runs.
  void use_only(const KernelRow& row);

  /// The set for that many rows of quantised activations. The system is asked for the permission
  /// that a set needs when it comes first, and once.
  [[nodiscard]] const KernelRow& kernel_for(std::size_t rows);

  [[nodiscard]] std::span<const KernelRow* const> kernels() const { return {kernels_, count_}; }
  [[nodiscard]] bool forced() const { return forced_; }
  [[nodiscard]] ThreadPool& pool() { return pool_; }

  /// task(item, thread) for each item below `items`: on all threads where the pool is free and
  /// `operations` in all are worth waking them, else on the caller's, thread 0.
  template <class Task>
  void share(std::size_t items, std::size_t operations, Task task);

  /// Scratch memory that is kept between calls; whoever has the pool may use it.
  [[nodiscard]] Memory& scratch() { return scratch_; }

 private:
  enum class Permission : int { unasked, granted, refused };

  [[nodiscard]] bool may_use(std::size_t index);

  const KernelRow* kernels_[most_kernels] = {};
  std::atomic<Permission> permissions_[most_kernels] = {};  ///< of the same kernel
  std::size_t count_ = 0;
  bool forced_ = false;
  ThreadPool pool_;
  Memory scratch_;
};

template <class Task>
void Engine::share(std::size_t items, std::size_t operations, Task task) {
  constexpr std::size_t least_operations = std::size_t{1} << 15;
  std::atomic<std::size_t> next{0};
  auto work = [&](int thread) {
    for (std::size_t i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < items;)
      task(i, static_cast<std::size_t>(thread));
  };
  if (items > 1 && operations >= least_operations && pool_.try_acquire()) {
    pool_.run(work);
    pool_.release();
  } else {
    work(0);
  }
}

}  // namespace axle::runtime

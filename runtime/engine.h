#pragma once
// One runtime: the kernel sets that this machine can run, best first, and the thread pool.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/axle_runtime.h"
#include "runtime/error_message.h"
#include "runtime/kernel_table.h"
#include "runtime/layer_choices.h"
#include "runtime/machine/memory.h"
#include "runtime/machine/thread_pool.h"

namespace axle::runtime {

/// The names of the capabilities that the machine lacks for `row`, space separated, cut to `size`.
void list_missing(const KernelRow& row, char* to, std::size_t size);

/// Rows of quantised activations for one row of x.
[[nodiscard]] constexpr std::size_t planes_of(axle_mode mode) {
  return mode == AXLE_A16W8 || mode == AXLE_A16W4 ? 2 : 1;
}

/// Rows of quantised activations for `rows` rows of x; the largest number where they are more.
[[nodiscard]] constexpr std::size_t plane_rows(std::size_t rows, axle_mode mode) {
  const std::size_t planes = planes_of(mode);
  return rows > SIZE_MAX / planes ? SIZE_MAX : rows * planes;
}

/// How one forward pass is run. The result is the same whatever it says.
struct PassChoice {
  const KernelRow* kernel = nullptr;
  std::size_t threads = 0;      ///< 0: all
  std::size_t chunk_bytes = 0;  ///< of quantised rows at a time; 0: as many as by default
};

class Engine {
 public:
  static constexpr std::size_t most_kernels = 16;

  explicit Engine(int threads) : pool_(threads > 0 ? threads : available_cpus()) {}

  /// `kernel` null or empty: all usable sets; else that one or an error.
  axle_status choose_kernels(const char* kernel, axle_error* error);

  /// That set alone, whatever the machine has: for a caller that knows that it runs.
  void use_only(const KernelRow& row);

  /// The set for that many rows of activations, two for each row of x where it has two planes. The
  /// system is asked for the permission that a set needs when it comes first, and once.
  [[nodiscard]] const KernelRow& kernel_for(std::size_t rows, axle_mode mode = AXLE_DA8W8);

  /// How a layer is run for `rows` rows of x: as LayerChoices says, else with kernel_for's set.
  /// Where a set is forced there are no choices.
  [[nodiscard]] PassChoice choice_for(const LayerShape& shape, std::size_t rows);

  /// Takes a choice for all later passes of such layers. False, and nothing is taken, where this
  /// engine has no such set, or where there is no room. Not while a pass runs.
  bool choose(const LayerShape& shape, std::size_t bucket, const PassChoice& choice);
  void forget_choices() { choices_.clear(); }
  /// Whether choices count, as they do at first. Not while a pass runs.
  void heed_choices(bool heed) { heeds_choices_ = heed; }
  [[nodiscard]] std::size_t chosen_shapes() const { return choices_.size(); }
  /// Whether there is a choice for such layers that counts.
  [[nodiscard]] bool has_choice(const LayerShape& shape) const {
    return !forced_ && choices_.has(shape);
  }

  [[nodiscard]] std::span<const KernelRow* const> kernels() const { return {kernels_, count_}; }
  /// That of `kernels()[index]`; the system is asked for the permission that it needs, once.
  [[nodiscard]] bool may_use(std::size_t index);
  [[nodiscard]] bool forced() const { return forced_; }
  [[nodiscard]] ThreadPool& pool() { return pool_; }
  /// Whether kernels ask for weights from several pages in turn.
  [[nodiscard]] bool pages_in_turn() const { return pages_in_turn_; }

  /// task(item, thread) for each item below `items`: on all threads where the pool is free and
  /// `operations` in all are worth waking them, else on the caller's, thread 0. The task is
  /// noexcept: a thread of the pool has nobody who would catch, and while one thread unwinds others
  /// still work with what it takes down. So it allocates nothing, or catches (result.h).
  template <class Task>
  void share(std::size_t items, std::size_t operations, Task task);

  /// Scratch memory that is kept between calls; whoever has the pool may use it.
  [[nodiscard]] Memory& scratch() { return scratch_; }

 private:
  enum class Permission : int { unasked, granted, refused };

  const KernelRow* kernels_[most_kernels] = {};
  std::atomic<Permission> permissions_[most_kernels] = {};  ///< of the same kernel
  std::size_t count_ = 0;
  bool forced_ = false;
  bool pages_in_turn_ = prefetches_page_by_page();
  LayerChoices choices_;
  bool heeds_choices_ = true;
  ThreadPool pool_;
  Memory scratch_;
};

template <class Task>
void Engine::share(std::size_t items, std::size_t operations, Task task) {
  static_assert(noexcept(task(items, items)));
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

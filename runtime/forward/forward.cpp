// The forward pass, one region of threads for each chunk of rows: rows are made and quantised, then
// column blocks multiplied, then rows of the result used.

#include <atomic>

#include "runtime/forward/block_queue.h"
#include "runtime/forward/column_blocks.h"
#include "runtime/forward/quantised_rows.h"
#include "runtime/linear.h"

namespace axle::runtime {
namespace {

/// Quantised rows of one chunk. By default there are so many that reading the weights for them
/// takes no longer than multiplying.
constexpr std::size_t most_chunk_rows = 512;
constexpr std::size_t least_chunk_rows = 32;
constexpr std::size_t least_rows_by_default = 128;
constexpr std::size_t row_multiple = 16;
/// Less work than this is not worth waking a thread for.
constexpr std::size_t least_shared_products = std::size_t{1} << 18;
constexpr std::size_t least_shared_operations = std::size_t{1} << 15;

}  // namespace

/// One chunk of rows at a time; all memory is carved from one scratch area.
class ForwardPass {
 public:
  ForwardPass(const Linear& linear, const PassChoice& choice, bool shared)
      : linear_(linear),
        set_(*choice.kernel->set),
        chunk_bytes_(choice.chunk_bytes != 0 ? choice.chunk_bytes : set_.chunk_bytes),
        least_rows_(choice.chunk_bytes != 0 ? least_chunk_rows : least_rows_by_default),
        threads_(shared ? static_cast<std::size_t>(linear.engine_.pool().threads()) : 1),
        rows_({.weights = linear.form_,
               .planes = planes_of(linear.mode_),
               .k = linear.k_,
               .padded_k = linear.padded_k_,
               .group = linear.group_},
              set_),
        blocks_(linear, set_, rows_) {
    if (choice.threads != 0 && choice.threads < threads_) threads_ = choice.threads;
  }

  /// Rows of x that one chunk takes: of m about as many in each.
  [[nodiscard]] std::size_t chunk_rows(std::size_t m) const {
    const std::size_t bytes = linear_.padded_k_ * rows_.element_bytes();
    std::size_t rows = chunk_bytes_ / bytes / row_multiple * row_multiple;
    if (rows < least_rows_) rows = least_rows_;
    if (rows > most_chunk_rows) rows = most_chunk_rows;
    const std::size_t most = rows / rows_.planes();
    if (m <= most) return m;
    const std::size_t chunks = (m + most - 1) / most;
    const std::size_t even = ((m + chunks - 1) / chunks + row_multiple - 1) / row_multiple;
    return even * row_multiple < most ? even * row_multiple : most;
  }

  [[nodiscard]] std::size_t scratch_bytes(std::size_t chunk) const {
    return rows_.bytes(chunk) + threads_ * thread_bytes(chunk) +
           2 * halved_blocks() * blocks_.sum_bytes(chunk);
  }

  /// Rows [first, first + rows) of the source and of the result.
  void run(const RowSource& source, std::size_t first, std::size_t rows, const RowResult& result,
           char* scratch) {
    rows_.place(scratch, rows);
    blocks_.write_to(result.y + first * linear_.n_, result.added);
    per_thread_ = scratch + rows_.bytes(rows);
    half_sums_ = per_thread_ + threads_ * thread_bytes(rows);

    const bool worthwhile = rows * linear_.n_ * linear_.k_ >= least_shared_products;
    const std::size_t parts = worthwhile ? parts_at_once() : 1;
    const auto is_shared = [&](std::size_t operations_of_row) {
      return parts > 1 && rows > 1 && rows * operations_of_row >= least_shared_operations;
    };
    const bool makes = is_shared(linear_.k_ * operations_of(source.kind));
    const bool completes = result.complete != nullptr && is_shared(result.operations);
    std::atomic<std::size_t> made{0};
    std::atomic<std::size_t> completed{0};
    Barrier all_made(parts);
    Barrier all_multiplied(parts);
    const std::size_t halved = parts > 1 ? halved_blocks() : 0;
    BlockQueue whole(linear_.blocks() - halved, parts);
    HalvedBlocks halves(2 * halved);
    if (!makes) quantise_rows(source, first, made, 0);
    on_threads(parts, [&](std::size_t thread) {
      if (makes) {
        quantise_rows(source, first, made, thread);
        all_made.wait();
      }
      multiply_blocks(whole, halves, thread);
      if (completes) {
        all_multiplied.wait();
        complete_rows(result, first, completed);
      }
    });
    if (!completes) complete_rows(result, first, completed);
  }

 private:
  /// What one thread needs: what a block needs, and one row of x as float.
  [[nodiscard]] std::size_t thread_bytes(std::size_t rows) const {
    return blocks_.thread_bytes(rows) + linear_.padded_k_ * sizeof(float);
  }
  [[nodiscard]] char* thread_memory(std::size_t thread) const {
    return per_thread_ + thread * thread_bytes(rows_.rows());
  }

  [[nodiscard]] std::size_t parts_at_once() const {
    if (threads_ == 1) return 1;
    const std::size_t parts = static_cast<std::size_t>(linear_.engine_.pool().start());
    return parts < threads_ ? parts : threads_;
  }

  template <class Task>
  void on_threads(std::size_t parts, Task task) {
    if (parts == 1) {
      task(0);
      return;
    }
    auto chosen = [&](int thread) {
      if (static_cast<std::size_t>(thread) < parts) task(static_cast<std::size_t>(thread));
    };
    linear_.engine_.pool().run(chosen);
  }

  void quantise_rows(const RowSource& source, std::size_t first, std::atomic<std::size_t>& next,
                     std::size_t thread) const {
    float* const own =
        reinterpret_cast<float*>(thread_memory(thread) + blocks_.thread_bytes(rows_.rows()));
    for (std::size_t r = 0; (r = next.fetch_add(1, std::memory_order_relaxed)) < rows_.rows();)
      rows_.quantise(r, source, first + r, own);
  }

  void multiply_blocks(BlockQueue& whole, HalvedBlocks& halves, std::size_t thread) const {
    char* const memory = thread_memory(thread);
    alignas(64) char others[tile_configuration_bytes];
    if (set_.enter != nullptr) set_.enter(others);
    for (std::size_t block = 0; whole.take(thread, block);) blocks_.multiply(block, memory);
    for (std::size_t half = 0; halves.take(half);) {
      const std::size_t pair = half / 2 * 2;
      const std::size_t block = linear_.blocks() - halves.blocks() + half / 2;
      blocks_.multiply_half(block, half != pair, half_memory(half));
      if (halves.is_last(half))
        blocks_.join_halves(block, half_memory(pair), half_memory(pair + 1), memory);
    }
    if (set_.leave != nullptr) set_.leave(others);
  }

  void complete_rows(const RowResult& result, std::size_t first,
                     std::atomic<std::size_t>& next) const {
    if (result.complete == nullptr) return;
    for (std::size_t r = 0; (r = next.fetch_add(1, std::memory_order_relaxed)) < rows_.rows();)
      result.complete(result.context, first + r);
  }

  /// Blocks that are left over when each thread has as many: two threads may share each of them,
  /// where the halves of its depth can be added.
  [[nodiscard]] std::size_t halved_blocks() const {
    const std::size_t left = linear_.blocks() % threads_;
    return blocks_.can_be_halved() && 2 * left <= threads_ ? left : 0;
  }

  [[nodiscard]] std::int32_t* half_memory(std::size_t half) const {
    return reinterpret_cast<std::int32_t*>(half_sums_ + half * blocks_.sum_bytes(rows_.rows()));
  }

  const Linear& linear_;
  const KernelSet& set_;
  std::size_t chunk_bytes_;
  std::size_t least_rows_;
  std::size_t threads_;
  QuantisedRows rows_;
  ColumnBlocks blocks_;
  char* per_thread_ = nullptr;
  char* half_sums_ = nullptr;
};

std::size_t Linear::chunk_rows(std::size_t m) {
  return m == 0 ? 0 : ForwardPass(*this, engine_.choice_for(shape(), m), false).chunk_rows(m);
}

axle_status Linear::forward(axle_type x_type, const void* x, std::size_t m, float* y,
                            axle_error* error) {
  return forward(RowSource{.x = x, .type = x_type}, m, RowResult{.y = y}, error);
}

axle_status Linear::forward(const RowSource& source, std::size_t m, const RowResult& result,
                            axle_error* error) {
  return m == 0 ? AXLE_OK : forward(engine_.choice_for(shape(), m), source, m, result, error);
}

axle_status Linear::forward(const PassChoice& choice, axle_type x_type, const void* x,
                            std::size_t m, float* y, axle_error* error) {
  return forward(choice, RowSource{.x = x, .type = x_type}, m, RowResult{.y = y}, error);
}

axle_status Linear::forward(const PassChoice& choice, const RowSource& source, std::size_t m,
                            const RowResult& result, axle_error* error) {
  const bool shared = engine_.pool().try_acquire();
  ForwardPass pass(*this, choice, shared);
  const std::size_t chunk = pass.chunk_rows(m);
  Memory own;
  Memory& scratch = shared ? engine_.scratch() : own;
  scratch.grow_to(pass.scratch_bytes(chunk));
  axle_status status = AXLE_OK;
  if (scratch.data() == nullptr) {
    status = report_failure(error, AXLE_NO_MEMORY, "no memory for the scratch of %zu rows", chunk);
  } else {
    for (std::size_t row = 0; row < m; row += chunk)
      pass.run(source, row, m - row < chunk ? m - row : chunk, result, scratch.as<char>());
  }
  if (shared) engine_.pool().release();
  return status;
}

}  // namespace axle::runtime

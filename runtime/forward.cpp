// The forward pass: quantise the rows of x, multiply column block by column block.

#include <atomic>

#include "runtime/activation_types.h"
#include "runtime/block_queue.h"
#include "runtime/column_blocks.h"
#include "runtime/linear.h"
#include "runtime/quantised_rows.h"

namespace axle::runtime {
namespace {

/// Quantised rows of one chunk: at most so many bytes (they should stay in L2), and so many rows.
constexpr std::size_t default_chunk_bytes = std::size_t{4} << 20;
constexpr std::size_t most_chunk_rows = 512;
constexpr std::size_t least_chunk_rows = 32;
constexpr std::size_t row_multiple = 16;
/// Less work than this is not worth waking a thread for.
constexpr std::size_t least_shared_products = std::size_t{1} << 18;
constexpr std::size_t least_shared_elements = std::size_t{1} << 15;

}  // namespace

/// One chunk of rows at a time; all memory is carved from one scratch area.
class ForwardPass {
 public:
  ForwardPass(const Linear& linear, const PassChoice& choice, axle_type type, bool shared)
      : linear_(linear),
        set_(*choice.kernel->set),
        type_(type),
        chunk_bytes_(choice.chunk_bytes != 0 ? choice.chunk_bytes : default_chunk_bytes),
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

  /// Rows of x that one chunk takes.
  [[nodiscard]] std::size_t chunk_rows(std::size_t m) const {
    std::size_t rows = chunk_bytes_ / rows_.row_bytes() / row_multiple * row_multiple;
    if (rows < least_chunk_rows) rows = least_chunk_rows;
    if (rows > most_chunk_rows) rows = most_chunk_rows;
    const std::size_t chunk = rows / rows_.planes();
    return m < chunk ? m : chunk;
  }

  [[nodiscard]] std::size_t scratch_bytes(std::size_t chunk) const {
    return rows_.bytes(chunk) + threads_ * thread_bytes(chunk) +
           2 * halved_blocks() * blocks_.sum_bytes(chunk);
  }

  void run(const void* x, std::size_t rows, float* y, void* scratch) {
    char* const base = static_cast<char*>(scratch);
    rows_.place(base, rows);
    blocks_.write_to(y);
    per_thread_ = base + rows_.bytes(rows);
    half_sums_ = per_thread_ + threads_ * thread_bytes(rows);
    quantise_rows(static_cast<const char*>(x));
    multiply_blocks();
  }

 private:
  /// What one thread needs: what a block needs, and one row of x as float.
  [[nodiscard]] std::size_t thread_bytes(std::size_t rows) const {
    return blocks_.thread_bytes(rows) + linear_.padded_k_ * sizeof(float);
  }
  [[nodiscard]] char* thread_memory(int thread) const {
    return per_thread_ + static_cast<std::size_t>(thread) * thread_bytes(rows_.rows());
  }

  template <class Task>
  void on_threads(bool worthwhile, Task task) {
    if (worthwhile && threads_ > 1) {
      auto chosen = [&](int thread) {
        if (static_cast<std::size_t>(thread) < threads_) task(thread);
      };
      linear_.engine_.pool().run(chosen);
    } else {
      task(0);
    }
  }

  void quantise_rows(const char* x) {
    std::atomic<std::size_t> next{0};
    const std::size_t stride = linear_.k_ * activation_bytes(type_);
    on_threads(rows_.rows() * linear_.k_ >= least_shared_elements, [&](int thread) {
      float* const own =
          reinterpret_cast<float*>(thread_memory(thread) + blocks_.thread_bytes(rows_.rows()));
      for (std::size_t r = 0; (r = next.fetch_add(1, std::memory_order_relaxed)) < rows_.rows();)
        rows_.quantise(r, type_, x + r * stride, own);
    });
  }

  void multiply_blocks() {
    const std::size_t products = rows_.rows() * linear_.n_ * linear_.k_;
    const bool worthwhile = products >= least_shared_products;
    const std::size_t halved = worthwhile ? halved_blocks() : 0;
    const std::size_t whole = linear_.blocks() - halved;
    BlockQueue queue(whole, worthwhile ? threads_ : 1);
    HalvedBlocks halves(2 * halved);
    on_threads(worthwhile, [&](int thread) {
      char* const memory = thread_memory(thread);
      if (set_.enter != nullptr) set_.enter();
      for (std::size_t block = 0; queue.take(static_cast<std::size_t>(thread), block);)
        blocks_.multiply(block, memory);
      for (std::size_t half = 0; halves.take(half);) {
        const std::size_t block = whole + half / 2;
        blocks_.multiply_half(block, half % 2 == 1, half_memory(half));
        if (halves.is_last(half))
          blocks_.join_halves(block, half_memory(half / 2 * 2), half_memory(half / 2 * 2 + 1),
                              memory);
      }
      if (set_.leave != nullptr) set_.leave();
    });
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
  axle_type type_;
  std::size_t chunk_bytes_;
  std::size_t threads_;
  QuantisedRows rows_;
  ColumnBlocks blocks_;
  char* per_thread_ = nullptr;
  char* half_sums_ = nullptr;
};

axle_status Linear::forward(axle_type x_type, const void* x, std::size_t m, float* y,
                            axle_error* error) {
  return m == 0 ? AXLE_OK : forward(engine_.choice_for(shape(), m), x_type, x, m, y, error);
}

axle_status Linear::forward(const PassChoice& choice, axle_type x_type, const void* x,
                            std::size_t m, float* y, axle_error* error) {
  const bool shared = engine_.pool().try_acquire();
  ForwardPass pass(*this, choice, x_type, shared);
  const std::size_t chunk = pass.chunk_rows(m);
  Memory own;
  Memory& scratch = shared ? engine_.scratch() : own;
  scratch.grow_to(pass.scratch_bytes(chunk));
  axle_status status = AXLE_OK;
  if (scratch.data() == nullptr) {
    status = report_failure(error, AXLE_NO_MEMORY, "no memory for the scratch of %zu rows", chunk);
  } else {
    const char* const from = static_cast<const char*>(x);
    for (std::size_t row = 0; row < m; row += chunk)
      pass.run(from + row * k_ * activation_bytes(x_type), m - row < chunk ? m - row : chunk,
               y + row * n_, scratch.data());
  }
  if (shared) engine_.pool().release();
  return status;
}

}  // namespace axle::runtime

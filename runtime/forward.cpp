// The forward pass: quantise the rows of x, multiply column block by column block, finish to float.

#include <atomic>
#include <cstring>

#include "runtime/activation_types.h"
#include "runtime/linear.h"

namespace axle::runtime {
namespace {

/// Quantised rows of one chunk: at most so many bytes (they should stay in L2), and so many rows.
constexpr std::size_t chunk_bytes = std::size_t{4} << 20;
constexpr std::size_t most_chunk_rows = 512;
constexpr std::size_t least_chunk_rows = 32;
constexpr std::size_t row_multiple = 16;
/// Less work than this is not worth waking a thread for.
constexpr std::size_t least_shared_products = std::size_t{1} << 18;
constexpr std::size_t least_shared_elements = std::size_t{1} << 15;

constexpr std::uint32_t infinity_bits = 0x7f800000;
constexpr std::uint32_t negligible_bits = (127U - 100U) << 23U;  ///< 2^-100

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The column blocks, a contiguous range for each thread; a thread that is done takes from the
/// others' ranges, so that one that the system has stopped does not hold up the pass.
class BlockQueue {
 public:
  BlockQueue(std::size_t blocks, std::size_t parts) : parts_(parts) {
    for (std::size_t p = 0; p < parts; ++p) {
      ranges_[p].next.store(blocks * p / parts, std::memory_order_relaxed);
      ranges_[p].end = blocks * (p + 1) / parts;
    }
  }

  bool take(std::size_t own, std::size_t& block) {
    for (std::size_t i = 0; i < parts_; ++i) {
      Range& range = ranges_[(own + i) % parts_];
      if (range.next.load(std::memory_order_relaxed) >= range.end) continue;
      block = range.next.fetch_add(1, std::memory_order_relaxed);
      if (block < range.end) return true;
    }
    return false;
  }

 private:
  struct alignas(64) Range {
    std::atomic<std::size_t> next;
    std::size_t end;
  };
  std::size_t parts_;
  Range ranges_[ThreadPool::most_threads];
};

}  // namespace

/// One chunk of rows at a time; all memory is carved from one scratch area.
class ForwardPass {
 public:
  ForwardPass(const Linear& linear, const KernelSet& set, axle_type type, bool shared)
      : linear_(linear),
        set_(set),
        type_(type),
        planes_(planes_of(linear.mode_)),
        row_bytes_(linear.padded_k_ * bytes_of(set.form) + row_gap),
        threads_(shared ? static_cast<std::size_t>(linear.engine_.pool().threads()) : 1) {}

  /// Rows of x that one chunk takes.
  [[nodiscard]] std::size_t chunk_rows(std::size_t m) const {
    std::size_t rows = chunk_bytes / row_bytes_ / row_multiple * row_multiple;
    if (rows < least_chunk_rows) rows = least_chunk_rows;
    if (rows > most_chunk_rows) rows = most_chunk_rows;
    const std::size_t chunk = rows / planes_;
    return m < chunk ? m : chunk;
  }

  [[nodiscard]] std::size_t scratch_bytes(std::size_t chunk) const {
    return activation_bytes_for(chunk) + round_up(chunk * sizeof(float), 64) +
           threads_ * thread_bytes(chunk);
  }

  void run(const void* x, std::size_t rows, float* y, void* scratch) {
    x_ = x;
    rows_ = rows;
    y_ = y;
    char* const base = static_cast<char*>(scratch);
    activations_ = base;
    row_scales_ = reinterpret_cast<float*>(base + activation_bytes_for(rows));
    per_thread_ = base + activation_bytes_for(rows) + round_up(rows * sizeof(float), 64);
    quantise_rows();
    multiply_blocks();
  }

 private:
  /// What one thread needs: sums of one column block, its columns beyond n, one row of x as float.
  [[nodiscard]] std::size_t sum_bytes(std::size_t rows) const {
    return round_up(rows * planes_, row_multiple) * block_columns * sizeof(std::int32_t);
  }
  [[nodiscard]] std::size_t thread_bytes(std::size_t rows) const {
    return sum_bytes(rows) + rows * block_columns * sizeof(float) +
           linear_.padded_k_ * sizeof(float);
  }
  [[nodiscard]] std::size_t activation_bytes_for(std::size_t rows) const {
    return round_up(rows * planes_, row_multiple) * row_bytes_;
  }
  [[nodiscard]] char* thread_memory(std::size_t thread) const {
    return per_thread_ + thread * thread_bytes(rows_);
  }

  template <class Task>
  void on_threads(bool worthwhile, Task task) {
    if (worthwhile && threads_ > 1) {
      linear_.engine_.pool().run(task);
    } else {
      task(0);
    }
  }

  void quantise_rows() {
    std::atomic<std::size_t> next{0};
    on_threads(rows_ * linear_.k_ >= least_shared_elements, [&](int thread) {
      float* const row =
          reinterpret_cast<float*>(thread_memory(static_cast<std::size_t>(thread)) +
                                   sum_bytes(rows_) + rows_ * block_columns * sizeof(float));
      for (std::size_t r = 0; (r = next.fetch_add(1, std::memory_order_relaxed)) < rows_;)
        quantise_row(r, row);
    });
  }

  /// x's row r as padded floats: itself where it can be read in place, else a copy in `copy`.
  const float* padded_row(std::size_t r, float* copy) const {
    const std::size_t k = linear_.k_;
    const char* const from = static_cast<const char*>(x_) + r * k * activation_bytes(type_);
    if (type_ == AXLE_FLOAT32 && k == linear_.padded_k_)
      return reinterpret_cast<const float*>(from);
    convert_to_float(type_, from, k, copy);
    std::memset(copy + k, 0, (linear_.padded_k_ - k) * sizeof(float));
    return copy;
  }

  void quantise_row(std::size_t r, float* copy) {
    const std::size_t count = linear_.padded_k_;
    const float* row = padded_row(r, copy);
    const std::uint32_t bits = set_.largest_magnitude(row, count);
    const float steps = planes_ == 2 ? 32512.0F : 127.0F;
    float inverse = 0;
    row_scales_[r] = 0;
    if (bits >= negligible_bits && bits < infinity_bits) {
      float largest = 0;
      std::memcpy(&largest, &bits, 4);
      inverse = steps / largest;
      row_scales_[r] = largest / steps;
    } else {
      // Nothing, or something not finite: zeros, and for the latter a scale that makes NaN of them.
      if (bits >= infinity_bits) row_scales_[r] = __builtin_nanf("");
      std::memset(copy, 0, count * sizeof(float));
      row = copy;
    }
    char* const high = activations_ + r * row_bytes_;
    set_.quantise(row, count, inverse, high,
                  planes_ == 2 ? activations_ + (rows_ + r) * row_bytes_ : nullptr);
  }

  void multiply_blocks() {
    const std::size_t products = rows_ * linear_.n_ * linear_.k_;
    const bool worthwhile = products >= least_shared_products;
    BlockQueue queue(linear_.blocks(), worthwhile ? threads_ : 1);
    on_threads(worthwhile, [&](int thread) {
      if (set_.enter != nullptr) set_.enter();
      for (std::size_t block = 0; queue.take(static_cast<std::size_t>(thread), block);)
        multiply_block(block, thread_memory(static_cast<std::size_t>(thread)));
      if (set_.leave != nullptr) set_.leave();
    });
  }

  void multiply_block(std::size_t block, char* memory) const {
    const std::size_t column = block * block_columns;
    std::int32_t* const sums = reinterpret_cast<std::int32_t*>(memory);
    set_.multiply({.weights = linear_.weights_.as<std::int8_t>(column * linear_.padded_k_),
                   .activations = activations_,
                   .row_bytes = row_bytes_,
                   .rows = rows_ * planes_,
                   .depth = linear_.padded_k_,
                   .correction = linear_.correction_.as<std::int32_t>() + column,
                   .sums = sums});
    const bool whole = column + block_columns <= linear_.n_;
    float* const beside = reinterpret_cast<float*>(memory + sum_bytes(rows_));
    set_.finish(
        {.high = sums,
         .low = planes_ == 2 ? sums + rows_ * block_columns : nullptr,
         .row_scales = row_scales_,
         .column_scales = linear_.scales_.as<float>() + column,
         .bias = linear_.bias_.data() == nullptr ? nullptr : linear_.bias_.as<float>() + column,
         .y = whole ? y_ + column : beside,
         .row_floats = whole ? linear_.n_ : block_columns,
         .rows = rows_});
    for (std::size_t r = 0; !whole && r < rows_; ++r)
      std::memcpy(y_ + r * linear_.n_ + column, beside + r * block_columns,
                  (linear_.n_ - column) * sizeof(float));
  }

  const Linear& linear_;
  const KernelSet& set_;
  axle_type type_;
  std::size_t planes_;
  std::size_t row_bytes_;
  std::size_t threads_;
  const void* x_ = nullptr;
  std::size_t rows_ = 0;
  float* y_ = nullptr;
  char* activations_ = nullptr;  ///< [rows], for two planes [rows] more, of row_bytes_ each
  float* row_scales_ = nullptr;
  char* per_thread_ = nullptr;
};

axle_status Linear::forward(axle_type x_type, const void* x, std::size_t m, float* y,
                            axle_error* error) {
  if (m == 0) return AXLE_OK;
  const KernelRow& kernel = engine_.kernel_for(m * planes_of(mode_));
  const bool shared = engine_.pool().try_acquire();
  ForwardPass pass(*this, *kernel.set, x_type, shared);
  const std::size_t chunk = pass.chunk_rows(m);
  Memory own;
  Memory& scratch = shared ? engine_.scratch() : own;
  if (scratch.size() < pass.scratch_bytes(chunk)) scratch = Memory(pass.scratch_bytes(chunk));
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

// The forward pass: quantise the rows of x, multiply column block by column block, finish to float.

#include <atomic>
#include <cstring>

#include "runtime/activation_types.h"
#include "runtime/block_queue.h"
#include "runtime/linear.h"

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

constexpr std::uint32_t infinity_bits = 0x7f800000;
constexpr std::uint32_t negligible_bits = (127U - 100U) << 23U;  ///< 2^-100

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Of an activation on its way to weights of that form.
std::size_t element_bytes(WeightForm form, const KernelSet& set) {
  if (form == WeightForm::float8) return set.narrow->f8_bytes;
  return bytes_of(form == WeightForm::int4 ? set.narrow->form : set.form);
}

/// Tiles of 4-bit weights may begin with any row and read so many beyond the last.
constexpr std::size_t rows_read_beyond = 32;

}  // namespace

/// One chunk of rows at a time; all memory is carved from one scratch area.
class ForwardPass {
 public:
  ForwardPass(const Linear& linear, const PassChoice& choice, axle_type type, bool shared)
      : linear_(linear),
        set_(*choice.kernel->set),
        type_(type),
        planes_(planes_of(linear.mode_)),
        row_bytes_(linear.padded_k_ * element_bytes(linear.form_, set_) + row_gap),
        chunk_bytes_(choice.chunk_bytes != 0 ? choice.chunk_bytes : default_chunk_bytes),
        threads_(shared ? static_cast<std::size_t>(linear.engine_.pool().threads()) : 1) {
    if (choice.threads != 0 && choice.threads < threads_) threads_ = choice.threads;
  }

  /// Rows of x that one chunk takes.
  [[nodiscard]] std::size_t chunk_rows(std::size_t m) const {
    std::size_t rows = chunk_bytes_ / row_bytes_ / row_multiple * row_multiple;
    if (rows < least_chunk_rows) rows = least_chunk_rows;
    if (rows > most_chunk_rows) rows = most_chunk_rows;
    const std::size_t chunk = rows / planes_;
    return m < chunk ? m : chunk;
  }

  [[nodiscard]] std::size_t scratch_bytes(std::size_t chunk) const {
    return activation_bytes_for(chunk) + row_side_bytes(chunk) + threads_ * thread_bytes(chunk) +
           2 * halved_blocks() * sum_bytes(chunk);
  }

  void run(const void* x, std::size_t rows, float* y, void* scratch) {
    x_ = x;
    rows_ = rows;
    y_ = y;
    char* const base = static_cast<char*>(scratch);
    activations_ = base;
    row_scales_ = reinterpret_cast<float*>(base + activation_bytes_for(rows));
    offsets_ = reinterpret_cast<std::int32_t*>(row_scales_ + rows);
    per_thread_ = base + activation_bytes_for(rows) + row_side_bytes(rows);
    half_sums_ = per_thread_ + threads_ * thread_bytes(rows);
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
    const std::size_t beyond = linear_.form_ == WeightForm::int4 ? rows_read_beyond : 0;
    return (round_up(rows * planes_, row_multiple) + beyond) * row_bytes_;
  }
  /// Groups that a row of int4 weights' activations falls into.
  [[nodiscard]] std::size_t groups() const {
    return linear_.form_ == WeightForm::int4 ? linear_.padded_k_ / linear_.group_ : 0;
  }
  /// What a row has beside its quantised values: its scale, and an offset for each group.
  [[nodiscard]] std::size_t row_side_bytes(std::size_t rows) const {
    return round_up(rows * (sizeof(float) + groups() * sizeof(std::int32_t)), 64);
  }
  [[nodiscard]] char* thread_memory(std::size_t thread) const {
    return per_thread_ + thread * thread_bytes(rows_);
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
    const bool counts = bits >= negligible_bits && bits < infinity_bits;
    if (!counts) {
      std::memset(copy, 0, count * sizeof(float));
      row = copy;
    }
    if (linear_.form_ == WeightForm::float8) {
      scale_row(r, row, counts ? bits : 0);
    } else {
      quantise_counted_row(r, row, counts ? bits : 0);
    }
    // Something not finite: a row of zeros with a scale that makes NaN of them.
    if (bits >= infinity_bits) row_scales_[r] = __builtin_nanf("");
  }

  /// `bits` of the largest magnitude, 0: nothing.
  void quantise_counted_row(std::size_t r, const float* row, std::uint32_t bits) {
    const float steps = planes_ == 2 ? 32512.0F : 127.0F;
    float largest = 0;
    std::memcpy(&largest, &bits, 4);
    const float inverse = bits == 0 ? 0 : steps / largest;
    row_scales_[r] = largest / steps;
    char* const high = activations_ + r * row_bytes_;
    char* const low = planes_ == 2 ? activations_ + (rows_ + r) * row_bytes_ : nullptr;
    if (linear_.form_ == WeightForm::int4) {
      set_.narrow->quantise_w4({.x = row,
                                .count = linear_.padded_k_,
                                .inverse_scale = inverse,
                                .group = linear_.group_,
                                .high = high,
                                .low = low,
                                .offsets = offsets_ + r * groups()});
    } else {
      set_.quantise(row, linear_.padded_k_, inverse, high, low);
    }
  }

  /// To x * 2^(120 - e), where the largest magnitude is in [2^e, 2^(e + 1)): float8 weights count
  /// 2^-120 of their value. In two steps, since 2^(120 - e) may be beyond float.
  void scale_row(std::size_t r, const float* row, std::uint32_t bits) {
    const std::uint32_t exponent = bits == 0 ? 127 : bits >> 23U;  // e + 127
    const std::uint32_t first_bits = (127U + 10U + 127U - exponent) << 23U;
    const std::uint32_t scale_bits = exponent << 23U;
    float first = 0;
    std::memcpy(&first, &first_bits, 4);
    std::memcpy(row_scales_ + r, &scale_bits, 4);
    set_.narrow->quantise_f8({.x = row,
                              .count = linear_.padded_k_,
                              .first = first,
                              .second = 0x1p110F,
                              .to = activations_ + r * row_bytes_});
  }

  void multiply_blocks() {
    const std::size_t products = rows_ * linear_.n_ * linear_.k_;
    const bool worthwhile = products >= least_shared_products;
    const std::size_t halved = worthwhile ? halved_blocks() : 0;
    const std::size_t whole = linear_.blocks() - halved;
    BlockQueue queue(whole, worthwhile ? threads_ : 1);
    HalvedBlocks halves(2 * halved);
    on_threads(worthwhile, [&](int thread) {
      char* const memory = thread_memory(static_cast<std::size_t>(thread));
      if (set_.enter != nullptr) set_.enter();
      for (std::size_t block = 0; queue.take(static_cast<std::size_t>(thread), block);)
        multiply_block(block, memory);
      for (std::size_t half = 0; halves.take(half);) {
        multiply_half(whole + half / 2, half);
        if (halves.is_last(half)) join_halves(whole + half / 2, half / 2, memory);
      }
      if (set_.leave != nullptr) set_.leave();
    });
  }

  /// Blocks that are left over when each thread has as many: two threads may share each of them,
  /// where the halves of its depth can be added.
  [[nodiscard]] std::size_t halved_blocks() const {
    const std::size_t left = linear_.blocks() % threads_;
    const bool exact = linear_.form_ == WeightForm::int8;
    return exact && 2 * left <= threads_ && linear_.padded_k_ > depth_multiple ? left : 0;
  }

  [[nodiscard]] std::int32_t* half_memory(std::size_t half) const {
    return reinterpret_cast<std::int32_t*>(half_sums_ + half * sum_bytes(rows_));
  }

  /// The sums of the first half of a block's depth, with the correction, or of the rest.
  void multiply_half(std::size_t block, std::size_t half) const {
    const std::size_t middle = linear_.padded_k_ / depth_multiple / 2 * depth_multiple;
    BlockProduct product = product_of(block, half_memory(half));
    product.continues = half % 2 == 1;
    product.depth = product.continues ? linear_.padded_k_ - middle : middle;
    if (product.continues) {
      product.weights += middle * block_columns;
      product.activations = activations_ + middle * element_bytes(linear_.form_, set_);
      std::memset(product.sums, 0, sum_bytes(rows_));
    }
    set_.multiply(product);
  }

  void join_halves(std::size_t block, std::size_t index, char* memory) const {
    std::int32_t* const sums = half_memory(2 * index);
    const std::int32_t* const rest = half_memory(2 * index + 1);
    // Modulo 2^32: halves may be beyond int32 where offsets are used, their sum is not.
    for (std::size_t i = 0; i < rows_ * planes_ * block_columns; ++i)
      sums[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[i]) +
                                          static_cast<std::uint32_t>(rest[i]));
    write_block(block, memory,
                [&](float* y, std::size_t row_floats) { finish_sums(block, sums, y, row_floats); });
  }

  void multiply_block(std::size_t block, char* memory) const {
    write_block(block, memory, [&](float* y, std::size_t row_floats) {
      if (linear_.form_ == WeightForm::int4 || linear_.form_ == WeightForm::float8) {
        float_sums(block, reinterpret_cast<float*>(memory), y, row_floats);
      } else {
        integer_sums(block, reinterpret_cast<std::int32_t*>(memory), y, row_floats);
      }
    });
  }

  /// write(y, row_floats) writes whole blocks; beside the result where it ends within one.
  template <class Write>
  void write_block(std::size_t block, char* memory, Write write) const {
    const std::size_t column = block * block_columns;
    const bool whole = column + block_columns <= linear_.n_;
    float* const beside = reinterpret_cast<float*>(memory + sum_bytes(rows_));
    float* const y = whole ? y_ + column : beside;
    const std::size_t row_floats = whole ? linear_.n_ : block_columns;
    write(y, row_floats);
    for (std::size_t r = 0; !whole && r < rows_; ++r)
      std::memcpy(y_ + r * linear_.n_ + column, beside + r * block_columns,
                  (linear_.n_ - column) * sizeof(float));
  }

  [[nodiscard]] const float* column_floats(const Memory& memory, std::size_t block) const {
    return memory.data() == nullptr ? nullptr : memory.as<float>() + block * block_columns;
  }

  [[nodiscard]] BlockProduct product_of(std::size_t block, std::int32_t* sums) const {
    const std::size_t column = block * block_columns;
    return {.weights = linear_.weights_.as<std::int8_t>(column * linear_.padded_k_),
            .activations = activations_,
            .row_bytes = row_bytes_,
            .rows = rows_ * planes_,
            .depth = linear_.padded_k_,
            .correction = linear_.correction_.as<std::int32_t>() + column,
            .sums = sums};
  }

  void integer_sums(std::size_t block, std::int32_t* sums, float* y, std::size_t row_floats) const {
    const std::size_t column = block * block_columns;
    const BlockProduct product = product_of(block, sums);
    if (linear_.form_ == WeightForm::two_level) {
      set_.narrow->multiply_two_level(
          {.weights = linear_.weights_.as<std::uint8_t>(column * linear_.padded_k_ / 2),
           .sub_scales = linear_.side_.as<std::uint8_t>(block * linear_.padded_k_),
           .element_bytes = element_bytes(linear_.form_, set_),
           .product = product});
    } else {
      set_.multiply(product);
    }
    finish_sums(block, sums, y, row_floats);
  }

  void finish_sums(std::size_t block, const std::int32_t* sums, float* y,
                   std::size_t row_floats) const {
    set_.finish({.high = sums,
                 .low = planes_ == 2 ? sums + rows_ * block_columns : nullptr,
                 .row_scales = row_scales_,
                 .column_scales = column_floats(linear_.scales_, block),
                 .bias = column_floats(linear_.bias_, block),
                 .y = y,
                 .row_floats = row_floats,
                 .rows = rows_});
  }

  void float_sums(std::size_t block, float* sums, float* y, std::size_t row_floats) const {
    const std::size_t column = block * block_columns;
    if (linear_.form_ == WeightForm::int4) {
      set_.narrow->multiply_w4(
          {.weights = linear_.weights_.as<std::uint8_t>(column * linear_.padded_k_ / 2),
           .scales = linear_.side_.as<std::uint16_t>() + column * groups(),
           .activations = activations_,
           .row_bytes = row_bytes_,
           .rows = rows_,
           .planes = planes_,
           .depth = linear_.padded_k_,
           .group = linear_.group_,
           .offsets = offsets_,
           .sums = sums});
    } else {
      set_.narrow->multiply_f8(
          {.weights = linear_.weights_.as<std::uint8_t>(column * linear_.padded_k_),
           .activations = activations_,
           .row_bytes = row_bytes_,
           .rows = rows_,
           .depth = linear_.padded_k_,
           .sums = sums});
    }
    set_.narrow->finish_floats({.sums = sums,
                                .row_scales = row_scales_,
                                .column_scales = column_floats(linear_.scales_, block),
                                .bias = column_floats(linear_.bias_, block),
                                .y = y,
                                .row_floats = row_floats,
                                .rows = rows_});
  }

  const Linear& linear_;
  const KernelSet& set_;
  axle_type type_;
  std::size_t planes_;
  std::size_t row_bytes_;
  std::size_t chunk_bytes_;
  std::size_t threads_;
  const void* x_ = nullptr;
  std::size_t rows_ = 0;
  float* y_ = nullptr;
  char* activations_ = nullptr;  ///< [rows], for two planes [rows] more, of row_bytes_ each
  float* row_scales_ = nullptr;
  std::int32_t* offsets_ = nullptr;  ///< [rows][groups], for int4 with one level
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

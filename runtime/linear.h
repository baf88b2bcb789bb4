#pragma once
// One quantised linear layer: packed weights and the forward pass.

#include <cstddef>
#include <cstdint>

#include "runtime/axle_runtime.h"
#include "runtime/engine.h"
#include "runtime/forward/row_source.h"
#include "runtime/machine/memory.h"

namespace axle::runtime {

/// Exact int32 sums: 128 * 128 * most_depth < 2^31.
inline constexpr std::size_t most_depth = 131071;

/// How the weights of a layer are packed.
enum class WeightForm : std::uint8_t { int8, int4, two_level, float8 };

/// Of checked options.
[[nodiscard]] WeightForm weight_form(const axle_linear_options& options);

/// The group of int4 weights that is meant.
[[nodiscard]] std::size_t group_of(const axle_linear_options& options);

/// Everything about `options` but what is found weight by weight while they are packed.
[[nodiscard]] axle_status check(const axle_linear_options& options, axle_error* error);

/// Weights that are not in memory as a whole.
struct WeightReader {
  /// Rows [first, first + count) to [count][k] of the options' `weight_type`; from any thread, from
  /// several at once. False: the rows cannot be had.
  bool (*read)(void* context, std::size_t first, std::size_t count, void* to);
  void* context;
};

class Linear {
 public:
  /// Channels that are read and packed together.
  static constexpr std::size_t rows_together = 16;

  explicit Linear(Engine& engine) : engine_(engine) {}

  /// Checks, quantises if need be, and packs. Call once.
  axle_status pack(const axle_linear_options& options, axle_error* error);

  /// The same of weights that `reader` gives; `options.weights` is null. AXLE_MALFORMED if
  /// they cannot be had: other rows may have been asked for after those.
  axle_status pack(const axle_linear_options& options, const WeightReader& reader,
                   axle_error* error);

  /// As axle_linear_forward has it, arguments checked.
  axle_status forward(axle_type x_type, const void* x, std::size_t m, float* y, axle_error* error);
  /// The same in a way of the caller's choice, of a set that the machine runs.
  axle_status forward(const PassChoice& choice, axle_type x_type, const void* x, std::size_t m,
                      float* y, axle_error* error);
  /// The same of rows that are made, and with a result that is used at once.
  axle_status forward(const RowSource& source, std::size_t m, const RowResult& result,
                      axle_error* error);

  /// Of m rows those that are computed together: the weights are read once for so many.
  [[nodiscard]] std::size_t chunk_rows(std::size_t m);

  [[nodiscard]] std::size_t n() const { return n_; }
  [[nodiscard]] std::size_t k() const { return k_; }
  [[nodiscard]] axle_mode mode() const { return mode_; }
  [[nodiscard]] LayerShape shape() const {
    return {mode_, static_cast<std::uint32_t>(group_), n_, k_};
  }
  [[nodiscard]] Engine& engine() const { return engine_; }

  /// What has been packed, for a device that takes it over.
  struct Packed {
    WeightForm form;
    std::size_t padded_n;
    std::size_t padded_k;
    const Memory& weights;
    const Memory& side;
    const Memory& scales;
    const Memory& bias;
  };
  [[nodiscard]] Packed packed() const {
    return {form_, padded_n_, padded_k_, weights_, side_, scales_, bias_};
  }
  /// Gives the memory of what has been packed back: there is no forward pass any more.
  void drop_packed();
  /// Of packed weights, their scales and the bias.
  [[nodiscard]] std::size_t bytes() const {
    return weights_.size() + scales_.size() + bias_.size() + correction_.size() + side_.size();
  }

 private:
  axle_status forward(const PassChoice& choice, const RowSource& source, std::size_t m,
                      const RowResult& result, axle_error* error);

  friend class ColumnBlocks;
  friend class ForwardPass;

  /// Some channels' weights on their way into a block.
  struct Rows {
    const void* weights;  ///< [count][k]
    std::size_t first;    ///< channel
    std::size_t count;
  };
  enum class Fault : std::uint8_t { none, unreadable, not_finite, too_large };
  /// What is wrong with weights, and in which channel first.
  struct Wrong {
    Fault fault = Fault::none;
    std::size_t channel = 0;
  };

  [[nodiscard]] std::size_t blocks() const { return padded_n_ / block_columns; }
  void take_shape(const axle_linear_options& options);
  axle_status allocate(bool with_bias);
  axle_status pack_from(const axle_linear_options& options, const WeightReader* reader,
                        axle_error* error);
  axle_status pack_all(const axle_linear_options& options, const WeightReader* reader,
                       axle_error* error);
  [[nodiscard]] Wrong pack_block(const axle_linear_options& options, const WeightReader* reader,
                                 std::size_t block, void* scratch);
  void clear_block(std::size_t block);
  [[nodiscard]] Wrong check_weights(const axle_linear_options& options, const Rows& rows) const;
  void pack_rows(const axle_linear_options& options, const Rows& rows);
  void take_scale(const axle_linear_options& options, const void* weights, std::size_t channel);
  void pack_channel_int8(const axle_linear_options& options, const void* weights,
                         std::size_t channel);
  void pack_channel_float8(const axle_linear_options& options, const void* weights,
                           std::size_t channel);
  void pack_channel_int4(const axle_linear_options& options, const void* weights,
                         std::size_t channel);
  void pack_channel_two_level(const axle_linear_options& options, const void* weights,
                              std::size_t channel);
  /// Of the side array that the weights of int4 have in this form; 0 in the others.
  [[nodiscard]] std::size_t side_bytes() const;

  Engine& engine_;
  axle_mode mode_ = AXLE_DA8W8;
  std::size_t n_ = 0;
  std::size_t k_ = 0;
  std::size_t padded_n_ = 0;
  std::size_t padded_k_ = 0;
  std::size_t group_ = 0;  ///< of int4
  WeightForm form_ = WeightForm::int8;
  Memory weights_;     ///< [padded_n/64][padded_k/4][64][4] int8 or float8, or slabs of nibbles
  Memory side_;        ///< int4: [padded_n/64][padded_k/group][64] bfloat16 scales; two levels:
                       ///< [padded_n/64][padded_k/64][64] factors, two a byte; else empty
  Memory scales_;      ///< [padded_n] float; empty for int4 with one level
  Memory bias_;        ///< [padded_n] float, or empty
  Memory correction_;  ///< [padded_n] int32; empty for int4 with one level and float8
};

}  // namespace axle::runtime

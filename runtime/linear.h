#pragma once
// One quantised linear layer: packed weights and the forward pass.

#include <cstddef>
#include <cstdint>

#include "runtime/axle_runtime.h"
#include "runtime/engine.h"
#include "runtime/memory.h"

namespace axle::runtime {

/// Exact int32 sums: 128 * 128 * most_depth < 2^31.
inline constexpr std::size_t most_depth = 131071;

class Linear {
 public:
  explicit Linear(Engine& engine) : engine_(engine) {}

  /// Checks, quantises if need be, and packs. Call once.
  axle_status pack(const axle_linear_options& options, axle_error* error);

  /// As axle_linear_forward has it, arguments checked.
  axle_status forward(axle_type x_type, const void* x, std::size_t m, float* y, axle_error* error);

  [[nodiscard]] std::size_t n() const { return n_; }
  [[nodiscard]] std::size_t k() const { return k_; }
  [[nodiscard]] axle_mode mode() const { return mode_; }
  [[nodiscard]] Engine& engine() const { return engine_; }
  [[nodiscard]] std::size_t bytes() const {
    return weights_.size() + scales_.size() + bias_.size() + correction_.size();
  }

 private:
  friend class ForwardPass;

  [[nodiscard]] std::size_t blocks() const { return padded_n_ / block_columns; }
  axle_status allocate(bool with_bias);
  axle_status take_scales(const axle_linear_options& options, axle_error* error);
  void pack_block(const axle_linear_options& options, std::size_t block);

  Engine& engine_;
  axle_mode mode_ = AXLE_DA8W8;
  std::size_t n_ = 0;
  std::size_t k_ = 0;
  std::size_t padded_n_ = 0;
  std::size_t padded_k_ = 0;
  Memory weights_;     ///< [padded_n/64][padded_k/4][64][4] int8
  Memory scales_;      ///< [padded_n] float
  Memory bias_;        ///< [padded_n] float, or empty
  Memory correction_;  ///< [padded_n] int32
};

}  // namespace axle::runtime

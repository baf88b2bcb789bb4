#pragma once
// The two ends of a forward pass: how a row of x comes about, and what becomes of a row of y.

#include <cstddef>
#include <cstdint>

#include "runtime/axle_runtime.h"
#include "runtime/kernel.h"

namespace axle::runtime {

/// Rows of k elements. A row that is made is made once, in the memory of the thread that uses it,
/// by the step of ModelSteps that its kind is named after: x consists of floats, k is a multiple
/// of 16.
struct RowSource {
  enum class Kind : std::uint8_t {
    stored,         ///< x [m][k] of any `type`
    rms_norm,       ///< of x [m][k]
    silu_multiply,  ///< of x [m][2][k], gate and up
    gelu,           ///< of x [m][k]
  };

  const void* x;
  Kind kind = Kind::stored;
  axle_type type = AXLE_FLOAT32;
  const float* weight = nullptr;  ///< [k], of rms_norm
  float epsilon = 0;
};

/// Row r of the source, k floats.
void make_row(const RowSource& source, const ModelSteps& steps, std::size_t r, std::size_t k,
              float* to);

/// Operations on an element about, until it is quantised.
[[nodiscard]] std::size_t operations_of(RowSource::Kind kind);

/// Rows of n floats.
struct RowResult {
  float* y;            ///< [m][n]; no row is made from it
  bool added = false;  ///< to what y has, each element by one addition, after its bias
  /// Or null. Called for each row as soon as y has it, from any thread, for several rows at once.
  void (*complete)(void* context, std::size_t row) = nullptr;
  void* context = nullptr;
  std::size_t operations = 0;  ///< of one call, about
};

}  // namespace axle::runtime

#pragma once
// How the rows of a linear layer become integers, and what they then stand for.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/model/layers/projection.h"

namespace axle::runtime {

/// How scales are chosen.
enum class ScaleMethod : std::uint8_t {
  absmax,  ///< the largest magnitude on the largest value
  mse,     ///< int4: positive, the least squared error of twenty
  search,  ///< int4: of either sign, the least squared error (what packing on the fly does)
  awq      ///< as `search`, errors weighted by activations; and input channels scaled beforehand
};

struct MethodRow {
  ScaleMethod method;
  const char* name;
};

[[nodiscard]] std::span<const MethodRow> scale_methods();
[[nodiscard]] const char* name_of(ScaleMethod method);

class QuantizationScheme {
 public:
  /// A quantised mode; its group counts for int4.
  QuantizationScheme(const ModelMode& mode, ScaleMethod method) : mode_(mode), method_(method) {}

  [[nodiscard]] const ModelMode& mode() const { return mode_; }
  [[nodiscard]] ScaleMethod method() const { return method_; }

  [[nodiscard]] std::size_t scales(std::size_t columns) const {
    return mode_.group == 0 ? 1 : (columns + mode_.group - 1) / mode_.group;
  }
  /// Bytes of a row as they are stored; `columns` is even.
  [[nodiscard]] std::size_t bytes(std::size_t columns) const {
    return mode_.group == 0 ? columns : columns / 2;
  }

  /// One row to [bytes(columns)] and [scales(columns)]. `importance` of each column, by which awq
  /// weighs squared errors; null: all the same.
  void quantise(const float* row, const float* importance, std::size_t columns,
                std::uint8_t* values, float* scales) const;
  /// And back.
  void dequantise(const std::uint8_t* values, const float* scales, std::size_t columns,
                  float* row) const;

 private:
  void quantise_int4(const float* row, const float* importance, std::size_t columns,
                     std::uint8_t* values, float* scales) const;
  [[nodiscard]] float group_scale(const float* group, const float* importance,
                                  std::size_t count) const;

  ModelMode mode_;
  ScaleMethod method_;
};

}  // namespace axle::runtime

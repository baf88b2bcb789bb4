#pragma once
// Rotary position embedding: the angle of each pair of a head at a position.

#include <cstddef>
#include <vector>

#include "runtime/model/description/model_shape.h"

namespace axle::runtime {

class Rotary {
 public:
  /// `frequency_factors`, empty or one a pair, divide the frequencies (GGUF's rope_freqs.weight).
  Rotary(const RotaryShape& shape, std::size_t head_depth,
         const std::vector<float>& frequency_factors);

  /// [head_depth / 2] each.
  void angles(std::size_t position, float* cosines, float* sines) const;

  [[nodiscard]] std::size_t pairs() const { return frequencies_.size(); }

 private:
  std::vector<double> frequencies_;  ///< in turns of one radian a position
};

}  // namespace axle::runtime

#include "runtime/model/layers/rotary.h"

#include "runtime/model/layers/elementary.h"

namespace axle::runtime {
namespace {

/// Llama 3.1's scaling, as transformers' modeling_rope_utils defines "llama3": long waves are
/// stretched by `factor`, short ones stay, those between are mixed.
double scale_llama3(double frequency, const RotaryShape& shape) {
  constexpr double turn = 6.283185307179586;
  const double wave = turn / frequency;
  if (wave < shape.original_context / shape.high_frequency_factor) return frequency;
  if (wave > shape.original_context / shape.low_frequency_factor) return frequency / shape.factor;
  const double smooth = (shape.original_context / wave - shape.low_frequency_factor) /
                        (shape.high_frequency_factor - shape.low_frequency_factor);
  return (1 - smooth) * frequency / shape.factor + smooth * frequency;
}

}  // namespace

Rotary::Rotary(const RotaryShape& shape, std::size_t head_depth,
               const std::vector<float>& frequency_factors)
    : frequencies_(head_depth / 2) {
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    double frequency =
        power(shape.theta, -2.0 * static_cast<double>(i) / static_cast<double>(head_depth));
    if (shape.scaling == RotaryShape::Scaling::linear) frequency /= shape.factor;
    if (shape.scaling == RotaryShape::Scaling::llama3) frequency = scale_llama3(frequency, shape);
    if (!frequency_factors.empty()) frequency /= static_cast<double>(frequency_factors[i]);
    frequencies_[i] = frequency;
  }
}

void Rotary::angles(std::size_t position, float* cosines, float* sines) const {
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    const SineAndCosine at = sine_and_cosine(static_cast<double>(position) * frequencies_[i]);
    cosines[i] = static_cast<float>(at.cosine);
    sines[i] = static_cast<float>(at.sine);
  }
}

}  // namespace axle::runtime

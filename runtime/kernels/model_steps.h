#pragma once
// The steps of a model between its linear layers (runtime/kernel.h, ModelSteps), written once in
// the operations of `Vector` (a vector header must be included first). attention_steps.h has those
// of attention.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"
#include "runtime/kernels/attention_steps.h"
#include "runtime/kernels/lanes.h"

namespace axle::runtime {
namespace {

/// 1 / sqrt(sum / count + epsilon): square root and division are exact to the last bit everywhere.
/// NaN for an infinite sum, whose inverse would make zeros of numbers that are too large.
AXLE_TARGET float inverse_root(float sum, std::size_t count, float epsilon) {
  if (sum == __builtin_inff()) return __builtin_nanf("");
  return 1.0F / __builtin_sqrtf(sum / static_cast<float>(count) + epsilon);
}

AXLE_TARGET void rms_norm(const float* x, const float* weight, std::size_t count, float epsilon,
                          float* y) {
  Lanes squares = Lanes::filled(0);
  for (std::size_t i = 0; i < count; i += lane_count) {
    const Lanes v = Lanes::load(x + i);
    squares = Lanes::add(squares, Lanes::multiply(v, v));
  }
  const Lanes factor = Lanes::filled(inverse_root(Lanes::sum(squares), count, epsilon));
  for (std::size_t i = 0; i < count; i += lane_count) {
    const Lanes scaled = Lanes::multiply(Lanes::load(x + i), factor);
    Lanes::store(y + i, Lanes::multiply(scaled, Lanes::load(weight + i)));
  }
}

AXLE_TARGET void layer_norm(const float* x, const float* weight, const float* bias,
                            std::size_t count, float epsilon, float* y) {
  Lanes total = Lanes::filled(0);
  for (std::size_t i = 0; i < count; i += lane_count) total = Lanes::add(total, Lanes::load(x + i));
  const Lanes mean = Lanes::filled(Lanes::sum(total) / static_cast<float>(count));
  Lanes squares = Lanes::filled(0);
  for (std::size_t i = 0; i < count; i += lane_count) {
    const Lanes v = Lanes::subtract(Lanes::load(x + i), mean);
    squares = Lanes::add(squares, Lanes::multiply(v, v));
  }
  const Lanes factor = Lanes::filled(inverse_root(Lanes::sum(squares), count, epsilon));
  for (std::size_t i = 0; i < count; i += lane_count) {
    const Lanes scaled = Lanes::multiply(Lanes::subtract(Lanes::load(x + i), mean), factor);
    Lanes::store(
        y + i, Lanes::add(Lanes::multiply(scaled, Lanes::load(weight + i)), Lanes::load(bias + i)));
  }
}

AXLE_TARGET void add_to(const float* x, std::size_t count, float* y) {
  for (std::size_t i = 0; i < count; i += lane_count)
    Lanes::store(y + i, Lanes::add(Lanes::load(y + i), Lanes::load(x + i)));
}

AXLE_TARGET void silu_multiply(const float* gate, const float* up, std::size_t count, float* y) {
  const Lanes one = Lanes::filled(1);
  for (std::size_t i = 0; i < count; i += lane_count) {
    const Lanes v = Lanes::load(gate + i);
    const Lanes decay = exponential(Lanes::subtract(Lanes::filled(0), v));
    const Lanes activated = Lanes::divide(v, Lanes::add(one, decay));
    Lanes::store(y + i, Lanes::multiply(activated, Lanes::load(up + i)));
  }
}

/// The error function of |v| by formula 7.1.26 of Abramowitz and Stegun, to 1.5e-7.
AXLE_VECTOR_OP Lanes error_function_of_magnitude(Lanes v) {
  const Lanes one = Lanes::filled(1);
  const Lanes t =
      Lanes::divide(one, Lanes::add(one, Lanes::multiply(Lanes::filled(0.3275911F), v)));
  Lanes p = Lanes::filled(1.061405429F);
  p = Lanes::add(Lanes::multiply(p, t), Lanes::filled(-1.453152027F));
  p = Lanes::add(Lanes::multiply(p, t), Lanes::filled(1.421413741F));
  p = Lanes::add(Lanes::multiply(p, t), Lanes::filled(-0.284496736F));
  p = Lanes::add(Lanes::multiply(p, t), Lanes::filled(0.254829592F));
  const Lanes decay = exponential(Lanes::subtract(Lanes::filled(0), Lanes::multiply(v, v)));
  return Lanes::subtract(one, Lanes::multiply(Lanes::multiply(p, t), decay));
}

AXLE_TARGET void gelu(float* x, std::size_t count) {
  for (std::size_t i = 0; i < count; i += lane_count) {
    const Lanes v = Lanes::load(x + i);
    const Lanes magnitude = Lanes::multiply(Lanes::magnitude(v), Lanes::filled(0.70710678F));
    const Lanes erf = Lanes::with_sign_of(error_function_of_magnitude(magnitude), v);
    Lanes::store(x + i, Lanes::multiply(Lanes::multiply(Lanes::filled(0.5F), v),
                                        Lanes::add(Lanes::filled(1), erf)));
  }
}

AXLE_TARGET void rotate(float* head, const float* cosines, const float* sines, std::size_t half) {
  std::size_t i = 0;
  for (; i + lane_count <= half; i += lane_count) {
    const Lanes a = Lanes::load(head + i);
    const Lanes b = Lanes::load(head + half + i);
    const Lanes cosine = Lanes::load(cosines + i);
    const Lanes sine = Lanes::load(sines + i);
    Lanes::store(head + i, Lanes::subtract(Lanes::multiply(a, cosine), Lanes::multiply(b, sine)));
    Lanes::store(head + half + i, Lanes::add(Lanes::multiply(b, cosine), Lanes::multiply(a, sine)));
  }
  for (; i < half; ++i) {
    const float a = head[i];
    const float b = head[half + i];
    head[i] = a * cosines[i] - b * sines[i];
    head[half + i] = b * cosines[i] + a * sines[i];
  }
}

/// `Rows` rows times 16 `Width` columns.
template <int Rows, int Width>
AXLE_TARGET void float_pass(const FloatProduct& product, std::size_t row, std::size_t column) {
  Lanes total[Rows][Width];
  AXLE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c) total[r][c] = Lanes::filled(0);
  }
  const float* const x = product.x + row * product.x_floats;
  const float* weights = product.weights + column;
  for (std::size_t k = 0; k < product.depth; ++k, weights += block_columns) {
    Lanes weight[Width];
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c) weight[c] = Lanes::load(weights + c * lane_count);
    AXLE_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const Lanes a = Lanes::filled(x[static_cast<std::size_t>(r) * product.x_floats + k]);
      AXLE_UNROLL
      for (int c = 0; c < Width; ++c)
        total[r][c] = Lanes::add(total[r][c], Lanes::multiply(a, weight[c]));
    }
  }
  AXLE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    float* const y = product.y + (row + static_cast<std::size_t>(r)) * product.y_floats + column;
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c) Lanes::store(y + c * lane_count, total[r][c]);
  }
}

/// Four accumulators of 16 lanes fill half of the registers of AVX2 and a quarter of AVX-512's.
AXLE_TARGET void multiply_floats(const FloatProduct& product) {
  constexpr int width = Vector::bytes == 64 ? 4 : 1;
  for (std::size_t column = 0; column < block_columns; column += width * lane_count) {
    std::size_t row = 0;
    for (; row + 4 <= product.rows; row += 4) float_pass<4, width>(product, row, column);
    for (; row < product.rows; ++row) float_pass<1, width>(product, row, column);
  }
}

constinit const ModelSteps model_steps{.rms_norm = rms_norm,
                                       .layer_norm = layer_norm,
                                       .add = add_to,
                                       .silu_multiply = silu_multiply,
                                       .gelu = gelu,
                                       .rotate = rotate,
                                       .multiply_floats = multiply_floats,
                                       .score = score,
                                       .exponentiate = exponentiate,
                                       .mix = mix};

}  // namespace
}  // namespace axle::runtime

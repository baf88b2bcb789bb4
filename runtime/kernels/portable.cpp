// The baseline of architectures without a file of their own: plain C++, vectorised by the compiler.

#include "runtime/kernels/vector_portable.h"
//
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/sets.h"

namespace axle::runtime {
namespace {

std::uint32_t largest_magnitude(const float* x, std::size_t count) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, x + i, 4);
    bits &= 0x7fffffffU;
    most = bits > most ? bits : most;
  }
  return most;
}

/// To the nearest, ties to even, for |v| < 2^22: beyond 1.5 * 2^23 a float has no fraction.
std::int32_t round_to_even(float v) {
  volatile float shifted = v + 12582912.0F;
  return static_cast<std::int32_t>(shifted - 12582912.0F);
}

void quantise(const float* x, std::size_t count, float inverse_scale, void* high, void* low) {
  std::int8_t* const upper = static_cast<std::int8_t*>(high);
  std::int8_t* const lower = static_cast<std::int8_t*>(low);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t q = round_to_even(x[i] * inverse_scale);
    const std::int32_t plane = low == nullptr ? q : (q + 128) >> 8;
    upper[i] = static_cast<std::int8_t>(plane);
    if (low != nullptr) lower[i] = static_cast<std::int8_t>(q - plane * 256);
  }
}

void multiply_row(const std::int8_t* weights, const std::int8_t* activations, std::size_t depth,
                  std::int32_t* sums) {
  for (std::size_t c = 0; c < block_columns; ++c) sums[c] = 0;
  for (std::size_t k = 0; k < depth; k += 4) {
    const std::int8_t* const w = weights + k * block_columns;
    for (std::size_t c = 0; c < block_columns; ++c)
      for (std::size_t i = 0; i < 4; ++i)
        sums[c] += std::int32_t{w[c * 4 + i]} * std::int32_t{activations[k + i]};
  }
}

void multiply(const BlockProduct& product) {
  for (std::size_t r = 0; r < product.rows; ++r)
    multiply_row(product.weights,
                 static_cast<const std::int8_t*>(product.activations) + r * product.row_bytes,
                 product.depth, product.sums + r * block_columns);
}

void finish(const BlockResult& result) {
  for (std::size_t r = 0; r < result.rows; ++r) {
    const std::size_t row = r * block_columns;
    for (std::size_t c = 0; c < block_columns; ++c) {
      float sum = static_cast<float>(result.high[row + c]);
      if (result.low != nullptr) sum = sum * 256.0F + static_cast<float>(result.low[row + c]);
      sum *= result.row_scales[r] * result.column_scales[c];
      if (result.bias != nullptr) sum += result.bias[c];
      result.y[r * result.row_floats + c] = sum;
    }
  }
}

}  // namespace

constinit const KernelSet kernel_set_portable{.form = ActivationForm::int8,
                                              .largest_magnitude = largest_magnitude,
                                              .quantise = quantise,
                                              .multiply = multiply,
                                              .finish = finish,
                                              .enter = nullptr,
                                              .leave = nullptr,
                                              .model = &model_steps};

}  // namespace axle::runtime

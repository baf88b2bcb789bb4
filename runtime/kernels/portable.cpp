// The baseline of architectures without a file of their own: plain C++, vectorised by the compiler.

#include "runtime/kernels/vector_portable.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/multiply.h"
#include "runtime/kernels/narrow_steps.h"
#include "runtime/kernels/sets.h"

namespace axle::runtime {
namespace {

void multiply_row(const std::int8_t* weights, const std::int8_t* activations, std::size_t depth,
                  bool continues, std::int32_t* sums) {
  for (std::size_t c = 0; c < block_columns && !continues; ++c) sums[c] = 0;
  for (std::size_t k = 0; k < depth; k += 4) {
    const std::int8_t* const w = weights + k * block_columns;
    for (std::size_t c = 0; c < block_columns; ++c)
      for (std::size_t i = 0; i < 4; ++i)
        sums[c] += std::int32_t{w[c * 4 + i]} * std::int32_t{activations[k + i]};
  }
}

void multiply_plain(const BlockProduct& product) {
  for (std::size_t r = 0; r < product.rows; ++r)
    multiply_row(product.weights,
                 static_cast<const std::int8_t*>(product.activations) + r * product.row_bytes,
                 product.depth, product.continues, product.sums + r * block_columns);
}

}  // namespace

constinit const KernelSet kernel_set_portable{
    .form = ActivationForm::int8,
    .largest_magnitude = largest_magnitude,
    .quantise = quantise<AsInt8>,
    .multiply = multiply_plain,
    .finish = finish,
    .enter = nullptr,
    .leave = nullptr,
    .model = &model_steps,
    .narrow = &narrow_steps<W4Dot, AsInt8, multiply_two_level_unpacked<multiply_plain>>};

}  // namespace axle::runtime

// The baseline of aarch64: Advanced SIMD.
#include "runtime/kernels/vector_neon.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/sets.h"
#include "runtime/kernels/signed_product.h"

namespace axle::runtime {

constinit const KernelSet kernel_set_neon{
    .form = ActivationForm::int8,
    .largest_magnitude = largest_magnitude,
    .quantise = quantise<AsInt8>,
    .multiply = multiply<BytePairProduct>,
    .finish = finish,
    .enter = nullptr,
    .leave = nullptr,
    .model = &model_steps,
    .narrow = &narrow_steps<W4SignedHalves, AsInt8, multiply_two_level<BytePairProduct>>};

}  // namespace axle::runtime

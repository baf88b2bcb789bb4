// The baseline of x86-64: SSE2.

#include "runtime/kernels/vector_sse2.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/multiply.h"
#include "runtime/kernels/narrow_steps.h"
#include "runtime/kernels/sets.h"

namespace axle::runtime {

constinit const KernelSet kernel_set_sse2{
    .form = ActivationForm::int16,
    .largest_magnitude = largest_magnitude,
    .quantise = quantise<AsInt16>,
    .multiply = multiply<PairProduct>,
    .finish = finish,
    .enter = nullptr,
    .leave = nullptr,
    .model = &model_steps,
    .narrow = &narrow_steps<W4Pairs, AsInt16, multiply_two_level<PairProduct>>};

}  // namespace axle::runtime

// AVX2: the x86_64_v3 build.

#include "runtime/kernels/vector_avx2.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/multiply.h"
#include "runtime/kernels/narrow_steps.h"
#include "runtime/kernels/sets.h"
#include "runtime/kernels/sign_product.h"

namespace axle::runtime {

constinit const KernelSet kernel_set_avx2{
    .form = ActivationForm::magnitude_and_sign,
    .largest_magnitude = largest_magnitude,
    .quantise = quantise_with_signs,
    .multiply = multiply<SignProduct>,
    .finish = finish,
    .enter = nullptr,
    .leave = nullptr,
    .model = &model_steps,
    .narrow = &narrow_steps<W4BytePairs, AsInt8, multiply_two_level<SignProduct>>};

}  // namespace axle::runtime

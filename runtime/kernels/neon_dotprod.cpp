// SDOT (FEAT_DotProd).
#define AXLE_VECTOR_TARGET "arch=armv8.2-a+dotprod"
#define AXLE_VECTOR_HAS_SIGNED_DOT
#include "runtime/kernels/vector_neon.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/sets.h"
#include "runtime/kernels/signed_product.h"

namespace axle::runtime {

constinit const KernelSet kernel_set_neon_dotprod{
    .form = ActivationForm::int8,
    .largest_magnitude = largest_magnitude,
    .quantise = quantise<AsInt8>,
    .multiply = multiply<SignedDotProduct>,
    .finish = finish,
    .enter = nullptr,
    .leave = nullptr,
    .model = &model_steps,
    .narrow = &narrow_steps<W4SignedDot, AsInt8, multiply_two_level<SignedDotProduct>>};

}  // namespace axle::runtime

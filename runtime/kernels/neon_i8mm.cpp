// SMMLA (FEAT_I8MM), and SDOT for 4-bit weights.
#define AXLE_VECTOR_TARGET "arch=armv8.2-a+dotprod+i8mm"
#define AXLE_VECTOR_HAS_SIGNED_DOT
#define AXLE_VECTOR_HAS_MATRIX
#include "runtime/kernels/vector_neon.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/matrix_product.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/sets.h"
#include "runtime/kernels/signed_product.h"

namespace axle::runtime {

constinit const KernelSet kernel_set_neon_i8mm{
    .form = ActivationForm::int8,
    .largest_magnitude = largest_magnitude,
    .quantise = quantise<AsInt8>,
    .multiply = multiply_matrices,
    .finish = finish,
    .enter = nullptr,
    .leave = nullptr,
    .model = &model_steps,
    .narrow = &narrow_steps<W4SignedDot, AsInt8, multiply_two_level_unpacked<multiply_matrices>>};

}  // namespace axle::runtime

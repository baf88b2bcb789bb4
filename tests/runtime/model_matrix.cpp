// The kernel of FEAT_I8MM on modelled vectors.
#include "runtime/kernels/vector_portable.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/matrix_product.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/signed_product.h"
#include "tests/runtime/kernel_sets.h"

namespace axle::runtime {

const KernelSet model_matrix{
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

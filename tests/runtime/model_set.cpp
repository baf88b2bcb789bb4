// One kernel set on modelled vectors: AXLE_MODEL_SET, of AXLE_VECTOR_BYTES, with AXLE_MODEL_PRODUCT
// over activations that are written by AXLE_MODEL_STORE in AXLE_MODEL_FORM; the same
// for 4-bit weights (CMakeLists.txt).
#include "runtime/kernels/vector_portable.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/multiply.h"
#include "runtime/kernels/narrow_steps.h"
#include "tests/runtime/kernel_sets.h"

namespace axle::runtime {

const KernelSet AXLE_MODEL_SET{
    .form = ActivationForm::AXLE_MODEL_FORM,
    .largest_magnitude = largest_magnitude,
    .quantise = quantise<AXLE_MODEL_STORE>,
    .multiply = multiply<AXLE_MODEL_PRODUCT>,
    .finish = finish,
    .enter = nullptr,
    .leave = nullptr,
    .model = &model_steps,
    .narrow =
        &narrow_steps<AXLE_MODEL_W4_PRODUCT, AXLE_MODEL_W4_STORE, multiply<AXLE_MODEL_PRODUCT>>};

}  // namespace axle::runtime

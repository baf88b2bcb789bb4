// One kernel set on modelled vectors: AXLE_MODEL_SET, of AXLE_VECTOR_BYTES, with AXLE_MODEL_PRODUCT
// over activations that AXLE_MODEL_QUANTISE writes in AXLE_MODEL_FORM; for 4-bit weights with
// AXLE_MODEL_W4_PRODUCT over what AXLE_MODEL_W4_STORE writes (CMakeLists.txt).
#include "runtime/kernels/vector_portable.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/multiply.h"
#include "runtime/kernels/narrow_steps.h"
#include "runtime/kernels/sign_product.h"
#include "runtime/kernels/signed_product.h"
#include "tests/runtime/kernel_sets.h"

namespace axle::runtime {

const KernelSet AXLE_MODEL_SET{.form = ActivationForm::AXLE_MODEL_FORM,
                               .largest_magnitude = largest_magnitude,
                               .quantise = AXLE_MODEL_QUANTISE,
                               .multiply = multiply<AXLE_MODEL_PRODUCT>,
                               .finish = finish,
                               .enter = nullptr,
                               .leave = nullptr,
                               .model = &model_steps,
                               .narrow = &narrow_steps<AXLE_MODEL_W4_PRODUCT, AXLE_MODEL_W4_STORE,
                                                       multiply_two_level<AXLE_MODEL_PRODUCT>>};

}  // namespace axle::runtime

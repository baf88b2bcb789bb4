// AVX-512 VNNI.
#define AXLE_VECTOR_TARGET "avx512f,avx512bw,avx512vnni"
#define AXLE_VECTOR_HAS_DOT
#include "runtime/kernels/vector_avx512.h"
//
#include "runtime/kernels/float_steps.h"
#include "runtime/kernels/model_steps.h"
#include "runtime/kernels/multiply.h"
#include "runtime/kernels/narrow_steps.h"
#include "runtime/kernels/sets.h"

namespace axle::runtime {

constinit const KernelSet kernel_set_avx512_vnni{
    .form = ActivationForm::offset_uint8,
    .largest_magnitude = largest_magnitude,
    .quantise = quantise<AsOffsetUint8>,
    .multiply = multiply<OffsetProduct>,
    .finish = finish,
    .enter = nullptr,
    .leave = nullptr,
    .model = &model_steps,
    .narrow = &narrow_steps<W4Dot, AsInt8, multiply_two_level<OffsetProduct>>};

}  // namespace axle::runtime

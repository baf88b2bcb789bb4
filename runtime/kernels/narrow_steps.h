#pragma once
// What a set takes for 4-bit and float8 weights: its product with 4-bit weights, how it stores the
// rows for it, and its product with those of two levels of scales.

#include <cstddef>
#include <cstdint>
//
#include "runtime/kernels/float_sums.h"
#include "runtime/kernels/multiply_f8.h"
#include "runtime/kernels/multiply_w4.h"
#include "runtime/kernels/two_level.h"

namespace axle::runtime {
namespace {

template <class W4Product, class Store, void (*two_level)(const TwoLevelProduct&)>
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constexpr, so never at run time
constexpr NarrowSteps narrow_steps{.form = sizeof(typename W4Product::Activation) == 2
                                               ? ActivationForm::int16
                                               : ActivationForm::int8,
                                   .quantise_w4 = quantise_w4<Store>,
                                   .multiply_w4 = multiply_w4<W4Product>,
                                   .multiply_two_level = two_level,
                                   .f8_bytes = sizeof(float),
                                   .least_f8_rows = 0,
                                   .quantise_f8 = quantise_f8<AsFloats>,
                                   .multiply_f8 = multiply_f8,
                                   .finish_floats = finish_floats};

}  // namespace
}  // namespace axle::runtime

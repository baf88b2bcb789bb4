#pragma once
// Layers with int4 and float8 weights, and what they must give: computed from the contract in
// runtime/kernel.h with 64-bit sums, without any code of the runtime.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/axle_runtime.h"
#include "tests/runtime/layer_case.h"

namespace axle::runtime {

/// A form of weights as options say it.
struct NarrowForm {
  axle_mode mode;
  std::size_t group;
  axle_scaling scaling;
};

/// Every mode with every group.
const std::vector<NarrowForm>& narrow_forms();
std::string name_of(const NarrowForm& form);

struct NarrowCase {
  NarrowForm form;
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  std::vector<std::uint8_t> weights;  ///< int8 or float8
  std::vector<float> scales;
  std::vector<std::uint8_t> factors;
  std::vector<float> bias;
  std::vector<float> x;
};

NarrowCase make_narrow_case(const NarrowForm& form, std::size_t m, std::size_t n, std::size_t k,
                            Contents contents, std::uint32_t seed);

axle_linear_options options_of(const NarrowCase& layer);

/// The bytes that every kernel set must give.
std::vector<float> exact_result(const NarrowCase& layer);

/// The weight that is meant, in double.
double weight_of(const NarrowCase& layer, std::size_t channel, std::size_t i);

/// The layer with x as its mode quantises it, in double: only the sums of floats may differ.
std::vector<double> dequantised_result(const NarrowCase& layer);

}  // namespace axle::runtime

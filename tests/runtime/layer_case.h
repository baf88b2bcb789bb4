#pragma once
// One layer with inputs, and what it must give: computed from the contract in runtime/kernel.h with
// 64-bit sums, without any code of the runtime.

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "runtime/axle_runtime.h"

namespace axle::runtime {

struct LayerCase {
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  std::vector<std::int8_t> weights;
  std::vector<float> scales;
  std::vector<float> bias;  ///< may be empty
  std::vector<float> x;
};

enum class Contents { ordinary, extremes, outliers, tiny_and_huge };

LayerCase make_case(std::size_t m, std::size_t n, std::size_t k, Contents contents,
                    std::uint32_t seed);

/// The bytes that every kernel set must give.
std::vector<float> exact_result(const LayerCase& layer, axle_mode mode);

/// The real layer, x not quantised, in double.
std::vector<double> real_result(const LayerCase& layer);

/// |a - b| / |b| over all elements.
double relative_error(const std::vector<float>& a, const std::vector<double>& b);

}  // namespace axle::runtime

#pragma once
// Measures how a model's linear layers are run best on this machine: all of them one after the
// other, as the model runs them, so that weights come from where they come from in earnest. A layer
// that is measured alone, again and again, has its weights in a cache (pytorch#148494).

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "runtime/engine.h"
#include "runtime/linear.h"
#include "runtime/result.h"
#include "runtime/tune/tuning_table.h"

namespace axle::runtime {

/// All layers with so many rows, in the chosen way.
struct TunedBucket {
  std::size_t rows = 0;
  std::size_t changed = 0;  ///< shapes with another choice than the default
  double gain = 1;          ///< of all layers together, against the default
};

struct Tuning {
  std::vector<LayerShape> shapes;  ///< that were measured
  std::vector<TunedLayer> layers;  ///< where something else than the default is faster
  std::vector<TunedBucket> buckets;
  std::size_t measurements = 0;
  std::size_t disturbed = 0;  ///< measurements while which something else ran
  std::size_t undecided = 0;  ///< shapes and rows for which there were too many of them
};

/// `layers` in the order in which the model runs them. What the engine had of choices is forgotten.
/// Choices that do not make all layers together faster are dropped.
[[nodiscard]] Result<Tuning> tune_layers(Engine& engine, std::span<Linear* const> layers,
                                         const std::function<void(double part)>& progress);

}  // namespace axle::runtime

#pragma once
// How fast a model runs here, beside plain reads of memory; tuned and by default in turn, so that
// what else the machine does falls on both.

#include <cstddef>
#include <functional>
#include <vector>

#include "runtime/model/decoder.h"
#include "runtime/model/encoder.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Calls of one kind. Times in seconds.
struct CallSpeed {
  const char* what;        ///< "generate", "prompt", "embed"
  std::size_t batch = 1;   ///< texts
  std::size_t tokens = 1;  ///< of one call, of all its texts
  std::size_t bytes = 0;   ///< of weights, and of the cache of past tokens, that a call reads
  double median = 0;       ///< of a call, with the choices of the engine
  double best = 0;
  double default_median = 0;  ///< without them
  double gain = 1;  ///< default / tuned, median of the pairs; 1 where there are no choices
};

struct ModelSpeed {
  std::vector<CallSpeed> calls;
  bool tuned = false;                ///< there are choices for the model's layers
  double read_bytes_per_second = 0;  ///< the best of plain reads between the calls
};

/// `progress` is told how much is measured, 0 to 1.
[[nodiscard]] Result<ModelSpeed> measure_speed(Engine& engine, Decoder& decoder, CacheForm form,
                                               const LoadProgress& progress);
[[nodiscard]] Result<ModelSpeed> measure_speed(Engine& engine, Encoder& encoder,
                                               const Pooling& pooling,
                                               const LoadProgress& progress);

}  // namespace axle::runtime

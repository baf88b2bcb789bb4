#pragma once
// How fast this machine reads memory just now: what a pass over weights is measured by.

#include <cstddef>

#include "runtime/engine.h"
#include "runtime/machine/memory.h"

namespace axle::runtime {

/// Bytes that are different at every place, so that no page and no matrix equals another.
void fill_differently(void* to, std::size_t bytes);

class ReadProbe {
 public:
  explicit ReadProbe(Engine& engine) : engine_(engine) {}

  /// `parts` of at least `bytes` each, in whole pieces of 4 KiB. False: no memory.
  bool allocate(std::size_t parts, std::size_t bytes);
  [[nodiscard]] std::size_t parts() const { return parts_; }
  [[nodiscard]] std::size_t part_bytes() const { return part_bytes_; }

  /// Reads one part with all threads of the engine that are free; how long that took.
  double seconds(std::size_t part);

 private:
  Engine& engine_;
  Memory memory_;
  std::size_t parts_ = 0;
  std::size_t part_bytes_ = 0;
};

}  // namespace axle::runtime

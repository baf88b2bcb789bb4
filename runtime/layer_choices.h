#pragma once
// How layers are run where something else than the default was measured to be faster
// (runtime/tune): looked up in each forward pass, by the layer's shape and the number of rows.

#include <cstddef>
#include <cstdint>

#include "runtime/axle_runtime.h"
#include "runtime/machine/memory.h"

namespace axle::runtime {

/// What the speed of a layer depends on.
struct LayerShape {
  axle_mode mode = AXLE_DA8W8;
  std::uint32_t group = 0;  ///< of int4 weights with one level of scales, else 0
  std::size_t n = 0;
  std::size_t k = 0;
  bool operator==(const LayerShape&) const = default;
};

/// Rows of x are counted in buckets: each for the counts above the one before it, and the last one
/// for all above that.
inline constexpr std::size_t row_buckets[] = {1, 2, 4, 8, 16, 32, 64};
inline constexpr std::size_t bucket_count = sizeof row_buckets / sizeof row_buckets[0];

/// `rows` at least 1.
[[nodiscard]] constexpr std::size_t bucket_of(std::size_t rows) {
  std::size_t bucket = 0;
  while (bucket + 1 < bucket_count && rows > row_buckets[bucket]) ++bucket;
  return bucket;
}

class LayerChoices {
 public:
  struct Choice {
    std::uint8_t kernel = 0;        ///< in the engine's list
    bool made = false;              ///< else the default is to be taken
    std::uint16_t threads = 0;      ///< 0: all
    std::uint32_t chunk_bytes = 0;  ///< 0: as many as by default
  };
  /// Shapes that there is room for: of some ten models in all modes.
  static constexpr std::size_t most_shapes = 256;

  /// Replaces what there is for the shape and bucket. False: there is no room or no memory.
  bool add(const LayerShape& shape, std::size_t bucket, const Choice& choice);
  void clear();
  [[nodiscard]] std::size_t size() const { return shapes_; }

  /// Whether one was made for any number of rows.
  [[nodiscard]] bool has(const LayerShape& shape) const {
    return shapes_ > 0 && slot_of(shape).taken;
  }
  /// Null: none was made.
  [[nodiscard]] const Choice* find(const LayerShape& shape, std::size_t rows) const;

 private:
  struct Slot {
    LayerShape shape;
    bool taken;
    Choice choices[bucket_count];
  };
  static constexpr std::size_t slots = 2 * most_shapes;  ///< so that one is always free

  /// That of the shape, or the free one where it would be.
  [[nodiscard]] Slot& slot_of(const LayerShape& shape) const;

  Memory memory_;  ///< [slots], once there is a choice
  std::size_t shapes_ = 0;
};

}  // namespace axle::runtime

#pragma once
// Attention of some tokens of one sequence, a key-value head at a time.

#include <cstddef>

#include "runtime/kernel.h"
#include "runtime/machine/memory.h"
#include "runtime/model/description/model_shape.h"
#include "runtime/model/layers/key_value_cache.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Consecutive tokens whose keys and values are stored in `sequence`.
struct AttentionRows {
  const Sequence* sequence;
  std::size_t layer;
  std::size_t position;  ///< of the first one
  std::size_t rows;      ///< at most Attention::most_rows
  std::size_t visible;   ///< positions that all of them see; 0: each sees itself and those before
  const float* queries;  ///< [heads][depth], row r starts `query_floats` * r further on
  std::size_t query_floats;
  float* out;  ///< [heads][depth], row r starts `out_floats` * r further on
  std::size_t out_floats;
};

class Attention {
 public:
  static constexpr std::size_t most_rows = 4;

  explicit Attention(const ModelShape& shape);

  /// Scratch for `threads` threads and sequences of up to `positions`; kept if it is enough.
  [[nodiscard]] Result<void> reserve(std::size_t threads, std::size_t positions);

  /// All heads that share key-value head `key_head`.
  void run(const ModelSteps& steps, const AttentionRows& rows, std::size_t key_head,
           std::size_t thread) const;

 private:
  struct Scratch {
    float* queries;  ///< [rows][group][depth], then the same for what comes out
    float* out;
    float* factors;        ///< [rows][group]
    float* scores;         ///< [rows][group][positions]
    const void** pages;    ///< of keys, then of values
    const float** scales;  ///< the same
  };

  [[nodiscard]] std::size_t thread_bytes() const;
  [[nodiscard]] Scratch scratch(std::size_t thread) const;

  std::size_t group_;  ///< heads that share a key-value head
  std::size_t depth_;
  std::size_t window_;
  float factor_;
  std::size_t threads_ = 0;
  std::size_t positions_ = 0;  ///< a multiple of 16
  Memory memory_;
};

}  // namespace axle::runtime

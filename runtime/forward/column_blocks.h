#pragma once
// The column blocks of a layer, each multiplied by the rows of a chunk and written to the result.

#include <cstddef>
#include <cstdint>

#include "runtime/forward/quantised_rows.h"
#include "runtime/linear.h"

namespace axle::runtime {

class ColumnBlocks {
 public:
  ColumnBlocks(const Linear& linear, const KernelSet& set, const QuantisedRows& rows)
      : linear_(linear), set_(set), rows_(rows) {}

  /// Of the sums of one block, a multiple of 64.
  [[nodiscard]] std::size_t sum_bytes(std::size_t rows) const;
  /// That a thread needs for a block: its sums, and what is not written to the result at once.
  [[nodiscard]] std::size_t thread_bytes(std::size_t rows) const {
    return sum_bytes(rows) + rows_beside * block_columns * sizeof(float);
  }
  /// The sums over a part of the depth can be added: two threads may share a block.
  [[nodiscard]] bool can_be_halved() const;

  /// y [rows][n], where the rows' results go; `added` as in RowResult.
  void write_to(float* y, bool added) {
    y_ = y;
    added_ = added;
  }

  /// Multiplies the block by all rows that are placed. `memory`: thread_bytes, 64-byte aligned.
  void multiply(std::size_t block, char* memory) const;

  /// Sums of the first half of a block's depth, with the correction, or of the rest.
  void multiply_half(std::size_t block, bool rest, std::int32_t* sums) const;
  /// Makes a block of its two halves; `sums`, those of the first, are lost.
  void join_halves(std::size_t block, std::int32_t* sums, const std::int32_t* rest,
                   char* memory) const;

 private:
  /// What is not written to the result at once comes through so many rows beside it.
  static constexpr std::size_t rows_beside = 16;

  [[nodiscard]] BlockProduct product_of(std::size_t block, std::int32_t* sums) const;
  void integer_sums(std::size_t block, std::int32_t* sums) const;
  void float_sums(std::size_t block, float* sums) const;
  /// Rows of one block that become floats together.
  struct Part {
    std::size_t first;
    std::size_t rows;
    float* y;
    std::size_t row_floats;
  };
  void finish_integers(std::size_t block, const std::int32_t* sums, const Part& part) const;
  void finish_floats(std::size_t block, const float* sums, const Part& part) const;
  template <class Finish>
  void write(std::size_t block, char* memory, Finish finish) const;
  void put(const float* from, std::size_t count, float* to) const;

  const Linear& linear_;
  const KernelSet& set_;
  const QuantisedRows& rows_;
  float* y_ = nullptr;
  bool added_ = false;
};

}  // namespace axle::runtime

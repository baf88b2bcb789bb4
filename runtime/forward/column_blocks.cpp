#include "runtime/forward/column_blocks.h"

#include <cstring>

namespace axle::runtime {
namespace {

constexpr std::size_t row_multiple = 16;

const float* column_floats(const Memory& memory, std::size_t block) {
  return memory.data() == nullptr ? nullptr : memory.as<float>() + block * block_columns;
}

}  // namespace

std::size_t ColumnBlocks::sum_bytes(std::size_t rows) const {
  const std::size_t sums = rows * rows_.planes();
  return (sums + row_multiple - 1) / row_multiple * row_multiple * block_columns *
         sizeof(std::int32_t);
}

bool ColumnBlocks::can_be_halved() const {
  return linear_.form_ == WeightForm::int8 && linear_.padded_k_ > depth_multiple;
}

BlockProduct ColumnBlocks::product_of(std::size_t block, std::int32_t* sums) const {
  const std::size_t column = block * block_columns;
  return {.weights = linear_.weights_.as<std::int8_t>(column * linear_.padded_k_),
          .activations = rows_.values(),
          .row_bytes = rows_.row_bytes(),
          .rows = rows_.rows() * rows_.planes(),
          .depth = linear_.padded_k_,
          .correction = linear_.correction_.as<std::int32_t>() + column,
          .sums = sums,
          .in_turn = linear_.engine_.pages_in_turn()};
}

void ColumnBlocks::multiply_half(std::size_t block, bool rest, std::int32_t* sums) const {
  const std::size_t middle = linear_.padded_k_ / depth_multiple / 2 * depth_multiple;
  BlockProduct product = product_of(block, sums);
  product.continues = rest;
  product.depth = rest ? linear_.padded_k_ - middle : middle;
  if (rest) {
    product.weights += middle * block_columns;
    product.activations = rows_.values() + middle * rows_.element_bytes();
    std::memset(sums, 0, sum_bytes(rows_.rows()));
  }
  set_.multiply(product);
}

void ColumnBlocks::join_halves(std::size_t block, std::int32_t* sums, const std::int32_t* rest,
                               char* memory) const {
  // Modulo 2^32: halves may be beyond int32 where offsets are used, their sum is not.
  for (std::size_t i = 0; i < rows_.rows() * rows_.planes() * block_columns; ++i)
    sums[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[i]) +
                                        static_cast<std::uint32_t>(rest[i]));
  write(block, memory, [&](const Part& part) { finish_integers(block, sums, part); });
}

void ColumnBlocks::multiply(std::size_t block, char* memory) const {
  if (linear_.form_ == WeightForm::int4 || linear_.form_ == WeightForm::float8) {
    float* const sums = reinterpret_cast<float*>(memory);
    float_sums(block, sums);
    write(block, memory, [&](const Part& part) { finish_floats(block, sums, part); });
  } else {
    std::int32_t* const sums = reinterpret_cast<std::int32_t*>(memory);
    integer_sums(block, sums);
    write(block, memory, [&](const Part& part) { finish_integers(block, sums, part); });
  }
}

/// finish(part) writes all columns of a block: to the result where that has them all and is not
/// added to.
template <class Finish>
void ColumnBlocks::write(std::size_t block, char* memory, Finish finish) const {
  const std::size_t column = block * block_columns;
  const std::size_t left = linear_.n_ - column;
  const std::size_t width = left < block_columns ? left : block_columns;
  const std::size_t rows = rows_.rows();
  if (width == block_columns && !added_) {
    finish({.first = 0, .rows = rows, .y = y_ + column, .row_floats = linear_.n_});
    return;
  }
  float* const beside = reinterpret_cast<float*>(memory + sum_bytes(rows));
  for (std::size_t first = 0; first < rows; first += rows_beside) {
    const std::size_t count = rows - first < rows_beside ? rows - first : rows_beside;
    finish({.first = first, .rows = count, .y = beside, .row_floats = block_columns});
    for (std::size_t r = 0; r < count; ++r)
      put(beside + r * block_columns, width, y_ + (first + r) * linear_.n_ + column);
  }
}

void ColumnBlocks::put(const float* from, std::size_t count, float* to) const {
  if (!added_) {
    std::memcpy(to, from, count * sizeof(float));
  } else if (count == block_columns) {
    set_.model->add(from, count, to);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
  }
}

void ColumnBlocks::integer_sums(std::size_t block, std::int32_t* sums) const {
  const BlockProduct product = product_of(block, sums);
  if (linear_.form_ == WeightForm::two_level) {
    const std::size_t column = block * block_columns;
    set_.narrow->multiply_two_level(
        {.weights = linear_.weights_.as<std::uint8_t>(column * linear_.padded_k_ / 2),
         .sub_scales = linear_.side_.as<std::uint8_t>(block * linear_.padded_k_),
         .element_bytes = rows_.element_bytes(),
         .product = product});
  } else {
    set_.multiply(product);
  }
}

void ColumnBlocks::float_sums(std::size_t block, float* sums) const {
  const std::size_t column = block * block_columns;
  if (linear_.form_ == WeightForm::int4) {
    set_.narrow->multiply_w4(
        {.weights = linear_.weights_.as<std::uint8_t>(column * linear_.padded_k_ / 2),
         .scales = linear_.side_.as<std::uint16_t>() + column * rows_.groups(),
         .activations = rows_.values(),
         .row_bytes = rows_.row_bytes(),
         .rows = rows_.rows(),
         .planes = rows_.planes(),
         .depth = linear_.padded_k_,
         .group = linear_.group_,
         .offsets = rows_.offsets(),
         .sums = sums,
         .in_turn = linear_.engine_.pages_in_turn()});
  } else {
    set_.narrow->multiply_f8(
        {.weights = linear_.weights_.as<std::uint8_t>(column * linear_.padded_k_),
         .activations = rows_.values(),
         .row_bytes = rows_.row_bytes(),
         .rows = rows_.rows(),
         .depth = linear_.padded_k_,
         .sums = sums,
         .in_turn = linear_.engine_.pages_in_turn()});
  }
}

void ColumnBlocks::finish_integers(std::size_t block, const std::int32_t* sums,
                                   const Part& part) const {
  const std::int32_t* const high = sums + part.first * block_columns;
  set_.finish({.high = high,
               .low = rows_.planes() == 2 ? high + rows_.rows() * block_columns : nullptr,
               .row_scales = rows_.scales() + part.first,
               .column_scales = column_floats(linear_.scales_, block),
               .bias = column_floats(linear_.bias_, block),
               .y = part.y,
               .row_floats = part.row_floats,
               .rows = part.rows});
}

void ColumnBlocks::finish_floats(std::size_t block, const float* sums, const Part& part) const {
  set_.narrow->finish_floats({.sums = sums + part.first * block_columns,
                              .row_scales = rows_.scales() + part.first,
                              .column_scales = column_floats(linear_.scales_, block),
                              .bias = column_floats(linear_.bias_, block),
                              .y = part.y,
                              .row_floats = part.row_floats,
                              .rows = part.rows});
}

}  // namespace axle::runtime

#pragma once
// Attention over a paged cache of keys and values (runtime/kernel.h, ScoreTask and MixTask),
// written once in the operations of `Vector` (a vector header must be included first).
//
// A lane is a position in the scores and an element of a head in the mixed values, so that each
// sum runs in its own lane, in order, whatever the number of rows.

#include <cstddef>
#include <cstdint>

#include "runtime/kernel.h"
#include "runtime/kernels/lanes.h"

namespace axle::runtime {
namespace {

/// `Rows` queries against `Pages` pages.
template <class Element, int Rows, int Pages>
AXLE_TARGET void score_pages(const ScoreTask& task, std::size_t row, std::size_t page) {
  Lanes total[Rows][Pages];
  AXLE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    AXLE_UNROLL
    for (int p = 0; p < Pages; ++p) total[r][p] = Lanes::filled(0);
  }
  const float* const queries = task.queries + row * task.query_floats;
  const Element* keys[Pages];
  for (int p = 0; p < Pages; ++p)
    keys[p] = static_cast<const Element*>(task.pages[page + static_cast<std::size_t>(p)]);
  for (std::size_t i = 0; i < task.depth; ++i) {
    Lanes key[Pages];
    AXLE_UNROLL
    for (int p = 0; p < Pages; ++p) key[p] = Lanes::load(keys[p] + i * page_positions);
    AXLE_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const Lanes query =
          Lanes::filled(queries[static_cast<std::size_t>(r) * task.query_floats + i]);
      AXLE_UNROLL
      for (int p = 0; p < Pages; ++p)
        total[r][p] = Lanes::add(total[r][p], Lanes::multiply(query, key[p]));
    }
  }
  AXLE_UNROLL
  for (int p = 0; p < Pages; ++p) {
    const std::size_t at = page + static_cast<std::size_t>(p);
    Lanes factor = Lanes::filled(task.factor);
    if constexpr (sizeof(Element) == 1)
      factor = Lanes::multiply(factor, Lanes::load(task.scales[at]));
    AXLE_UNROLL
    for (int r = 0; r < Rows; ++r)
      Lanes::store(task.scores + (row + static_cast<std::size_t>(r)) * task.score_floats +
                       at * page_positions,
                   Lanes::multiply(total[r][p], factor));
  }
}

/// As many pages at once as there are registers for the sums: enough additions under way, and few
/// loads of queries for each.
template <class Element, int Rows>
AXLE_TARGET void score_rows(const ScoreTask& task, std::size_t row) {
  constexpr int together = Rows == 1 || Vector::bytes == 64 ? 4 : 1;
  std::size_t page = 0;
  for (; page + together <= task.page_count; page += together)
    score_pages<Element, Rows, together>(task, row, page);
  for (; page < task.page_count; ++page) score_pages<Element, Rows, 1>(task, row, page);
}

template <class Element>
AXLE_TARGET void score_all(const ScoreTask& task) {
  std::size_t row = 0;
  for (; row + 4 <= task.rows; row += 4) score_rows<Element, 4>(task, row);
  for (; row < task.rows; ++row) score_rows<Element, 1>(task, row);
}

AXLE_TARGET void score(const ScoreTask& task) {
  switch (task.form) {
    case CacheForm::float32:
      return score_all<float>(task);
    case CacheForm::float16:
      return score_all<std::uint16_t>(task);
    case CacheForm::int8:
      return score_all<std::int8_t>(task);
  }
}

AXLE_TARGET float exponentiate(float* scores, std::size_t first, std::size_t last,
                               std::size_t count) {
  constexpr float least = -3.4e38F;
  for (std::size_t i = 0; i < first; ++i) scores[i] = least;
  for (std::size_t i = last; i < count; ++i) scores[i] = least;
  Lanes most = Lanes::filled(least);
  for (std::size_t i = 0; i < count; i += lane_count)
    most = Lanes::larger(Lanes::load(scores + i), most);
  const Lanes largest = Lanes::filled(Lanes::largest(most));
  for (std::size_t i = 0; i < count; i += lane_count)
    Lanes::store(scores + i, exponential(Lanes::subtract(Lanes::load(scores + i), largest)));
  for (std::size_t i = 0; i < first; ++i) scores[i] = 0;
  for (std::size_t i = last; i < count; ++i) scores[i] = 0;
  Lanes total = Lanes::filled(0);
  for (std::size_t i = 0; i < count; i += lane_count)
    total = Lanes::add(total, Lanes::load(scores + i));
  return Lanes::sum(total);
}

/// `Rows` rows times 16 `Width` elements of the head, over all pages.
template <class Element, int Rows, int Width>
AXLE_TARGET void mix_elements(const MixTask& task, std::size_t row, std::size_t element) {
  Lanes total[Rows][Width];
  AXLE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c) total[r][c] = Lanes::filled(0);
  }
  const float* const weights = task.weights + row * task.weight_floats;
  for (std::size_t page = 0; page < task.page_count; ++page) {
    const Element* values = static_cast<const Element*>(task.pages[page]) + element;
    for (std::size_t i = 0; i < page_positions; ++i, values += task.depth) {
      Lanes value[Width];
      AXLE_UNROLL
      for (int c = 0; c < Width; ++c) value[c] = Lanes::load(values + c * lane_count);
      AXLE_UNROLL
      for (int r = 0; r < Rows; ++r) {
        float weight =
            weights[static_cast<std::size_t>(r) * task.weight_floats + page * page_positions + i];
        if constexpr (sizeof(Element) == 1) weight *= task.scales[page][i];
        const Lanes broadcast = Lanes::filled(weight);
        AXLE_UNROLL
        for (int c = 0; c < Width; ++c)
          total[r][c] = Lanes::add(total[r][c], Lanes::multiply(broadcast, value[c]));
      }
    }
  }
  AXLE_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const std::size_t at = row + static_cast<std::size_t>(r);
    const Lanes factor = Lanes::filled(task.factors[at]);
    AXLE_UNROLL
    for (int c = 0; c < Width; ++c)
      Lanes::store(task.out + at * task.out_floats + element + c * lane_count,
                   Lanes::multiply(total[r][c], factor));
  }
}

template <class Element, int Width>
AXLE_TARGET void mix_rows(const MixTask& task, std::size_t element) {
  std::size_t row = 0;
  for (; row + 4 <= task.rows; row += 4) mix_elements<Element, 4, Width>(task, row, element);
  for (; row < task.rows; ++row) mix_elements<Element, 1, Width>(task, row, element);
}

template <class Element>
AXLE_TARGET void mix_all(const MixTask& task) {
  std::size_t element = 0;
  if constexpr (Vector::bytes == 64) {
    for (; element + 4 * lane_count <= task.depth; element += 4 * lane_count)
      mix_rows<Element, 4>(task, element);
  }
  for (; element < task.depth; element += lane_count) mix_rows<Element, 1>(task, element);
}

AXLE_TARGET void mix(const MixTask& task) {
  switch (task.form) {
    case CacheForm::float32:
      return mix_all<float>(task);
    case CacheForm::float16:
      return mix_all<std::uint16_t>(task);
    case CacheForm::int8:
      return mix_all<std::int8_t>(task);
  }
}

}  // namespace
}  // namespace axle::runtime

#include "runtime/model/layers/attention.h"

#include <cmath>
#include <cstring>

namespace axle::runtime {
namespace {

constexpr std::size_t cache_line = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

Attention::Attention(const ModelShape& shape)
    : group_(shape.heads / shape.key_heads),
      depth_(shape.head_depth),
      window_(shape.window),
      factor_(1.0F / std::sqrt(static_cast<float>(shape.head_depth))) {}

std::size_t Attention::thread_bytes() const {
  const std::size_t vectors = most_rows * group_;
  const std::size_t floats = 2 * vectors * depth_ + round_up(vectors, 16) + vectors * positions_;
  const std::size_t pointers = positions_ / page_positions * (sizeof(void*) + sizeof(float*));
  return round_up(floats * sizeof(float) + pointers, cache_line);
}

Attention::Scratch Attention::scratch(std::size_t thread) const {
  const std::size_t vectors = most_rows * group_;
  const std::size_t pages = positions_ / page_positions;
  Scratch s{};
  s.queries = memory_.as<float>(thread * thread_bytes());
  s.out = s.queries + vectors * depth_;
  s.scores = s.out + vectors * depth_;
  s.factors = s.scores + vectors * positions_;
  s.pages = reinterpret_cast<const void**>(s.factors + round_up(vectors, 16));
  s.scales = reinterpret_cast<const float**>(s.pages + pages);
  return s;
}

Result<void> Attention::reserve(std::size_t threads, std::size_t positions) {
  if (threads <= threads_ && positions <= positions_) return {};
  threads_ = threads;
  // Room for more than is asked for: a text that grows should not ask at every page.
  positions_ = round_up(positions + positions / 2, page_positions);
  memory_.grow_to(threads * thread_bytes());
  if (memory_.data() != nullptr) return {};
  threads_ = 0;
  positions_ = 0;
  return failure(AXLE_NO_MEMORY, "no memory for the attention over %zu positions", positions);
}

void Attention::run(const ModelSteps& steps, const AttentionRows& rows, std::size_t key_head,
                    std::size_t thread) const {
  const Sequence& sequence = *rows.sequence;
  const CacheForm form = sequence.shape().form;
  const Scratch s = scratch(thread);
  const std::size_t last = rows.visible > 0 ? rows.visible : rows.position + rows.rows;
  const std::size_t first =
      window_ > 0 && rows.position + 1 > window_ ? rows.position + 1 - window_ : 0;
  const std::size_t first_page = first / page_positions;
  const std::size_t pages = (last + page_positions - 1) / page_positions - first_page;
  const std::size_t padded = pages * page_positions;
  const std::size_t width = group_ * depth_;
  for (std::size_t r = 0; r < rows.rows; ++r)
    std::memcpy(s.queries + r * width, rows.queries + r * rows.query_floats + key_head * width,
                width * sizeof(float));
  for (std::size_t p = 0; p < pages; ++p) {
    s.pages[p] = sequence.keys(first_page + p, rows.layer, key_head);
    s.scales[p] = sequence.key_scales(first_page + p, rows.layer, key_head);
  }
  steps.score({.queries = s.queries,
               .query_floats = depth_,
               .rows = rows.rows * group_,
               .depth = depth_,
               .form = form,
               .pages = s.pages,
               .scales = s.scales,
               .page_count = pages,
               .factor = factor_,
               .scores = s.scores,
               .score_floats = padded});
  for (std::size_t i = 0; i < rows.rows * group_; ++i) {
    const std::size_t position = rows.position + i / group_;
    const std::size_t from = window_ > 0 && position + 1 > window_ ? position + 1 - window_ : 0;
    const std::size_t to = rows.visible > 0 ? rows.visible : position + 1;
    const std::size_t skipped = first_page * page_positions;
    s.factors[i] =
        1.0F / steps.exponentiate(s.scores + i * padded, from - skipped, to - skipped, padded);
  }
  for (std::size_t p = 0; p < pages; ++p) {
    s.pages[p] = sequence.values(first_page + p, rows.layer, key_head);
    s.scales[p] = sequence.value_scales(first_page + p, rows.layer, key_head);
  }
  steps.mix({.weights = s.scores,
             .weight_floats = padded,
             .factors = s.factors,
             .rows = rows.rows * group_,
             .depth = depth_,
             .form = form,
             .pages = s.pages,
             .scales = s.scales,
             .page_count = pages,
             .out = s.out,
             .out_floats = depth_});
  for (std::size_t r = 0; r < rows.rows; ++r)
    std::memcpy(rows.out + r * rows.out_floats + key_head * width, s.out + r * width,
                width * sizeof(float));
}

}  // namespace axle::runtime

#include "runtime/model/layers/key_value_cache.h"

#include <cmath>
#include <cstring>

#include "runtime/half.h"
#include "runtime/quantize/rounding.h"

namespace axle::runtime {
namespace {

constexpr std::size_t scale_bytes = page_positions * sizeof(float);
constexpr float largest_half = 65504.0F;

struct NamedForm {
  const char* name;
  CacheForm form;
};

/// In the order of CacheForm.
constexpr NamedForm cache_forms[] = {
    {"float32", CacheForm::float32}, {"float16", CacheForm::float16}, {"int8", CacheForm::int8}};

float finite_or_zero(float value) { return std::fabs(value) <= 3.4e38F ? value : 0.0F; }

std::uint16_t half_of(float value) {
  if (value > largest_half) value = largest_half;
  if (value < -largest_half) value = -largest_half;
  return float16_from_float(value);
}

/// Writes [depth] values, `stride` elements apart, and for int8 their scale.
void store(CacheForm form, const float* from, std::size_t depth, void* to, std::size_t stride,
           float* scale) {
  if (form == CacheForm::float32) {
    for (std::size_t i = 0; i < depth; ++i)
      static_cast<float*>(to)[i * stride] = finite_or_zero(from[i]);
    return;
  }
  if (form == CacheForm::float16) {
    for (std::size_t i = 0; i < depth; ++i)
      static_cast<std::uint16_t*>(to)[i * stride] = half_of(finite_or_zero(from[i]));
    return;
  }
  float largest = 0;
  for (std::size_t i = 0; i < depth; ++i) {
    const float magnitude = std::fabs(finite_or_zero(from[i]));
    if (magnitude > largest) largest = magnitude;
  }
  // The reciprocal of less would overflow; as in linear layers it counts as nothing.
  const bool counts = largest >= 0x1p-100F;
  const float inverse = counts ? 127.0F / largest : 0.0F;
  *scale = counts ? largest / 127.0F : 0.0F;
  for (std::size_t i = 0; i < depth; ++i)
    static_cast<std::int8_t*>(to)[i * stride] =
        static_cast<std::int8_t>(round_to_even(finite_or_zero(from[i]) * inverse));
}

}  // namespace

const CacheForm* find_cache_form(std::string_view name) {
  for (const NamedForm& one : cache_forms) {
    if (name == one.name) return &one.form;
  }
  return nullptr;
}

const char* name_of(CacheForm form) { return cache_forms[static_cast<std::size_t>(form)].name; }

std::size_t CacheShape::element_bytes() const {
  return form == CacheForm::float32 ? 4 : form == CacheForm::float16 ? 2 : 1;
}

std::size_t CacheShape::head_bytes() const {
  return 2 * block_bytes() + (form == CacheForm::int8 ? 2 * scale_bytes : 0);
}

Result<Memory> PagePool::take() {
  if (!free_.empty()) {
    Memory page = std::move(free_.back());
    free_.pop_back();
    return page;
  }
  if (free_.capacity() <= pages_) free_.reserve(2 * pages_ + 1);
  Memory page(shape_.page_bytes());
  if (page.data() == nullptr)
    return failure(AXLE_NO_MEMORY,
                   "no memory for %zu more positions of the key-value cache, which take %zu bytes; "
                   "shorter or fewer texts need less, and so does a cache of int8",
                   page_positions, shape_.page_bytes());
  // Places behind the last token are multiplied by zero: they must be finite.
  std::memset(page.data(), 0, page.size());
  ++pages_;
  return page;
}

Result<void> Sequence::reserve(std::size_t positions) {
  while (pages_.size() * page_positions < positions) {
    Result<Memory> page = pool_->take();
    if (!page) return std::unexpected(page.error());
    pages_.push_back(std::move(*page));
  }
  return {};
}

void Sequence::clear() {
  for (Memory& page : pages_) pool_->give_back(std::move(page));
  pages_.clear();
  length_ = 0;
}

char* Sequence::head_memory(std::size_t page, std::size_t layer, std::size_t head) const {
  const CacheShape& shape = pool_->shape();
  return pages_[page].as<char>((layer * shape.heads + head) * shape.head_bytes());
}

const void* Sequence::keys(std::size_t page, std::size_t layer, std::size_t head) const {
  return head_memory(page, layer, head);
}

const void* Sequence::values(std::size_t page, std::size_t layer, std::size_t head) const {
  return head_memory(page, layer, head) + pool_->shape().block_bytes();
}

const float* Sequence::key_scales(std::size_t page, std::size_t layer, std::size_t head) const {
  return reinterpret_cast<const float*>(head_memory(page, layer, head) +
                                        2 * pool_->shape().block_bytes());
}

const float* Sequence::value_scales(std::size_t page, std::size_t layer, std::size_t head) const {
  return key_scales(page, layer, head) + page_positions;
}

void Sequence::store_key(std::size_t layer, std::size_t head, std::size_t position,
                         const float* key) {
  const CacheShape& shape = pool_->shape();
  const std::size_t at = position % page_positions;
  char* const memory = head_memory(position / page_positions, layer, head);
  float* const scales = reinterpret_cast<float*>(memory + 2 * shape.block_bytes());
  store(shape.form, key, shape.depth, memory + at * shape.element_bytes(), page_positions,
        scales + at);
}

void Sequence::store_value(std::size_t layer, std::size_t head, std::size_t position,
                           const float* value) {
  const CacheShape& shape = pool_->shape();
  const std::size_t at = position % page_positions;
  char* const memory = head_memory(position / page_positions, layer, head);
  float* const scales = reinterpret_cast<float*>(memory + 2 * shape.block_bytes());
  store(shape.form, value, shape.depth,
        memory + shape.block_bytes() + at * shape.depth * shape.element_bytes(), 1,
        scales + page_positions + at);
}

}  // namespace axle::runtime

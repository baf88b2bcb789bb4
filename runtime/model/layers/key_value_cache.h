#pragma once
// Keys and values of the tokens that a model has seen, in pages of 16 positions.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/machine/memory.h"
#include "runtime/result.h"

namespace axle::runtime {

/// "float32", "float16", "int8"; null for another name.
[[nodiscard]] const CacheForm* find_cache_form(std::string_view name);
[[nodiscard]] const char* name_of(CacheForm form);

struct CacheShape {
  std::size_t layers = 0;
  std::size_t heads = 0;  ///< of keys and values
  std::size_t depth = 0;  ///< of a head
  CacheForm form = CacheForm::float16;

  [[nodiscard]] std::size_t element_bytes() const;
  /// 16 positions of one head's keys, or of its values.
  [[nodiscard]] std::size_t block_bytes() const { return page_positions * depth * element_bytes(); }
  /// Keys, values, and for int8 a scale a position for each of them.
  [[nodiscard]] std::size_t head_bytes() const;
  [[nodiscard]] std::size_t page_bytes() const { return layers * heads * head_bytes(); }
};

/// Pages that sequences take and give back; those given back are used again.
class PagePool {
 public:
  explicit PagePool(CacheShape shape) : shape_(shape) {}

  [[nodiscard]] const CacheShape& shape() const { return shape_; }
  /// A page of finite numbers; AXLE_NO_MEMORY if there is none.
  [[nodiscard]] Result<Memory> take();
  void give_back(Memory page) noexcept { free_.push_back(std::move(page)); }

 private:
  CacheShape shape_;
  std::size_t pages_ = 0;     ///< that were ever taken
  std::vector<Memory> free_;  ///< with room for all of them: giving back allocates nothing
};

/// The positions of one text. The pool outlives it.
class Sequence {
 public:
  explicit Sequence(PagePool& pool) : pool_(&pool) {}
  Sequence(Sequence&&) = default;
  Sequence& operator=(Sequence&&) = delete;
  ~Sequence() { clear(); }

  [[nodiscard]] const CacheShape& shape() const { return pool_->shape(); }
  [[nodiscard]] std::size_t length() const { return length_; }
  [[nodiscard]] std::size_t pages() const { return pages_.size(); }

  /// Makes room for `positions` in all; what is there stays, also when there is no memory.
  [[nodiscard]] Result<void> reserve(std::size_t positions);

  /// Stores one head's key or value, [depth] floats, at a reserved position. What is not finite is
  /// stored as zero: pages are used again, and must not carry a NaN into other sequences.
  /// float16: to the nearest, at most 65504. int8: symmetrically by the largest magnitude.
  void store_key(std::size_t layer, std::size_t head, std::size_t position, const float* key);
  void store_value(std::size_t layer, std::size_t head, std::size_t position, const float* value);

  /// Positions are complete in all layers up to here.
  void advance_to(std::size_t length) { length_ = length; }
  void clear();

  /// A head's blocks in page `page`, as ScoreTask and MixTask want them.
  [[nodiscard]] const void* keys(std::size_t page, std::size_t layer, std::size_t head) const;
  [[nodiscard]] const void* values(std::size_t page, std::size_t layer, std::size_t head) const;
  [[nodiscard]] const float* key_scales(std::size_t page, std::size_t layer,
                                        std::size_t head) const;
  [[nodiscard]] const float* value_scales(std::size_t page, std::size_t layer,
                                          std::size_t head) const;

 private:
  [[nodiscard]] char* head_memory(std::size_t page, std::size_t layer, std::size_t head) const;

  PagePool* pool_;
  std::vector<Memory> pages_;
  std::size_t length_ = 0;
};

}  // namespace axle::runtime

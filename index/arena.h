#pragma once
// Memory that is given back as a whole.

#include <cstddef>
#include <memory>
#include <vector>

namespace axle::index {

class Arena {
 public:
  /// Aligned for any type, not initialised, valid as long as the arena, wherever that is moved to.
  [[nodiscard]] void* allocate(std::size_t size) {
    size = (size + alignment - 1) / alignment * alignment;
    if (size > left_) {
      const std::size_t block = size > block_size ? size : block_size;
      blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block));
      next_ = blocks_.back().get();
      left_ = block;
    }
    void* result = next_;
    next_ += size;
    left_ -= size;
    return result;
  }

 private:
  static constexpr std::size_t alignment = alignof(std::max_align_t);
  static constexpr std::size_t block_size = 256U << 10;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace axle::index

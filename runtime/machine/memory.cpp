#include "runtime/machine/memory.h"

#include <cstdint>
#include <cstdlib>

#include <sys/mman.h>

namespace axle::runtime {

Memory::Memory(std::size_t bytes, std::size_t huge_from) {
  const bool huge = bytes >= huge_from;
  const std::size_t alignment = huge ? huge_page : 64;
  if (bytes == 0 || bytes > SIZE_MAX - alignment) return;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (posix_memalign(&data_, alignment, rounded) != 0) {
    data_ = nullptr;
    return;
  }
  size_ = rounded;
  if (huge) madvise(data_, rounded, MADV_HUGEPAGE);
}

Memory::Memory(Memory&& other) noexcept : data_(other.data_), size_(other.size_) {
  other.data_ = nullptr;
  other.size_ = 0;
}

Memory& Memory::operator=(Memory&& other) noexcept {
  if (this != &other) {
    free(data_);
    data_ = other.data_;
    size_ = other.size_;
    other.data_ = nullptr;
    other.size_ = 0;
  }
  return *this;
}

Memory::~Memory() { free(data_); }

}  // namespace axle::runtime

#include "doctor/audit/large_buffer.h"

#include <cstring>
#include <utility>

#include <sys/mman.h>

namespace axle::doctor {

LargeBuffer::LargeBuffer(std::uint64_t capacity) {
  if (capacity == 0) capacity = 1;
  void* memory = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, capacity, MADV_HUGEPAGE);
  bytes_ = static_cast<std::byte*>(memory);
  capacity_ = capacity;
}

LargeBuffer::~LargeBuffer() {
  if (bytes_ != nullptr) ::munmap(bytes_, capacity_);
}

LargeBuffer::LargeBuffer(LargeBuffer&& other) noexcept
    : bytes_(std::exchange(other.bytes_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)),
      size_(std::exchange(other.size_, 0)) {}

LargeBuffer& LargeBuffer::operator=(LargeBuffer&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(capacity_, other.capacity_);
  std::swap(size_, other.size_);
  return *this;
}

bool LargeBuffer::append(std::span<const std::byte> bytes) {
  if (bytes.size() > capacity_ - size_) return false;
  if (!bytes.empty()) std::memcpy(bytes_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  return true;
}

std::span<std::byte> LargeBuffer::room() { return {bytes_ + size_, capacity_ - size_}; }

std::string_view LargeBuffer::view() const {
  return {reinterpret_cast<const char*>(bytes_), size_};
}

}  // namespace axle::doctor

#pragma once
// Owned, aligned memory without the C++ runtime library (what goes into a wheel links libc only).

#include <cstddef>

namespace axle::runtime {

/// 64-byte aligned; from 4 MiB on, and from 512 KiB on what grows, in huge pages where the system
/// has them. Not initialised beyond what the system does. Empty when there was no memory.
class Memory {
 public:
  Memory() = default;
  explicit Memory(std::size_t bytes) : Memory(bytes, 2 * huge_page) {}
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  /// At least `bytes`, whose contents are lost: what is there is given back first, so that both are
  /// never there at once. For what is worked on again and again, row by row: a tile of sixteen rows
  /// would touch as many small pages.
  void grow_to(std::size_t bytes) {
    if (size_ >= bytes) return;
    *this = Memory();
    *this = Memory(bytes, huge_page / 4);
  }

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  template <class T>
  [[nodiscard]] T* as(std::size_t byte_offset = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + byte_offset);
  }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;

  /// In huge pages, whole ones, if there are `huge_from` bytes or more.
  Memory(std::size_t bytes, std::size_t huge_from);

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace axle::runtime

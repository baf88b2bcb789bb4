#pragma once
// Memory for one library, in large pages where the system has them: of a gigabyte in small ones the
// faults alone take half a second.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace axle::doctor {

class LargeBuffer {
 public:
  /// For up to `capacity` bytes. Empty if the system has none: see ok().
  explicit LargeBuffer(std::uint64_t capacity);
  ~LargeBuffer();
  LargeBuffer(LargeBuffer&& other) noexcept;
  LargeBuffer& operator=(LargeBuffer&& other) noexcept;
  LargeBuffer(const LargeBuffer&) = delete;
  LargeBuffer& operator=(const LargeBuffer&) = delete;

  [[nodiscard]] bool ok() const { return bytes_ != nullptr; }
  /// False: there is no room for them.
  [[nodiscard]] bool append(std::span<const std::byte> bytes);
  /// What is left of the capacity, to be filled from the front and then taken with `grow`.
  [[nodiscard]] std::span<std::byte> room();
  void grow(std::size_t bytes) { size_ += bytes; }
  [[nodiscard]] std::string_view view() const;

 private:
  std::byte* bytes_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
};

}  // namespace axle::doctor

#pragma once
// A file read through a mapping, so that what is not touched is not in memory.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace axle::runtime {

/// Owned; moved with its addresses unchanged. A file that another process cuts short while it is
/// mapped ends the program at the next access (SIGBUS), as with every mapping.
class MappedFile {
 public:
  /// AXLE_IO if it is not there, not a regular file, or cannot be read. May be empty.
  [[nodiscard]] static Result<MappedFile> open(const std::string& path);

  /// Of no file: no bytes.
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(data_), size_};
  }

 private:
  MappedFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace axle::runtime

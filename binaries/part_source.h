#pragma once
// The bytes [offset, offset + size) of another source as a source.

#include <cstddef>
#include <cstdint>
#include <span>

#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

class PartSource final : public wheel::ByteSource {
 public:
  /// `whole` must live as long.
  PartSource(wheel::ByteSource& whole, std::uint64_t offset, std::uint64_t size)
      : whole_(whole), offset_(offset), size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// Error: malformed, beyond the part's end.
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset > size_ || out.size() > size_ - offset)
      return fail(ErrorKind::malformed, "read beyond the end of a part");
    return whole_.read(offset_ + offset, out);
  }

 private:
  wheel::ByteSource& whole_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

}  // namespace axle::binaries

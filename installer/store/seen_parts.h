#pragma once
// What was read of a file by parts, to compare it with the whole file when that comes.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

/// The parts, in memory. For one thread at a time.
class SeenParts {
 public:
  void add(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Where the first of them begins.
  [[nodiscard]] std::uint64_t begin() const;
  /// Where the last of them ends: the size of a file whose end was read.
  [[nodiscard]] std::uint64_t end() const;
  /// Whether `bytes`, which begin at `offset` of the whole file, are those that were read of them.
  [[nodiscard]] bool agree(std::uint64_t offset, std::span<const std::byte> bytes) const;

 private:
  struct Part {
    std::uint64_t offset;
    std::string bytes;
  };
  std::vector<Part> parts_;
};

/// Reads from `source` and adds what it gives to `seen`.
[[nodiscard]] std::unique_ptr<wheel::ByteSource> remember_parts(
    std::unique_ptr<wheel::ByteSource> source, std::shared_ptr<SeenParts> seen);

}  // namespace axle::installer

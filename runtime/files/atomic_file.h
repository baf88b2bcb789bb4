#pragma once
// A file that appears under its name when it is complete, or not at all.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/result.h"

namespace axle::runtime {

/// Written beside its place as "<name>.partial-<process>-<number>", which is removed unless it is
/// published; a killed process leaves it there. Errors are AXLE_IO.
class AtomicFile {
 public:
  /// With room for `bytes`, where the file system can tell at once that there is none.
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path, std::uint64_t bytes);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) = delete;
  ~AtomicFile();

  [[nodiscard]] Result<void> write(std::uint64_t at, std::span<const std::byte> bytes);

  /// On the disk from here on, and closed.
  [[nodiscard]] Result<void> sync();

  /// After sync(): under its name, in the place of what was there.
  [[nodiscard]] Result<void> publish();

 private:
  AtomicFile(const std::string& path, std::string partial, int descriptor)
      : path_(path), partial_(std::move(partial)), descriptor_(descriptor) {}

  std::string path_;
  std::string partial_;  ///< empty: published
  int descriptor_;       ///< -1: closed
};

}  // namespace axle::runtime

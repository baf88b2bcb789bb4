#pragma once
// A file that stays open and is read piece by piece: never mapped, because a mapping of what
// another program cuts short, or of a disk that fails, ends the process (SIGBUS) at the next
// access.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "runtime/result.h"

namespace axle::runtime {

/// Owned. Any number of threads may read at once.
class ModelFile {
 public:
  /// AXLE_IO if it is not there, not a regular file, or cannot be read. May be empty.
  [[nodiscard]] static Result<ModelFile> open(const std::string& path);

  /// Of bytes that the caller keeps; `name` stands for the path in errors.
  [[nodiscard]] static ModelFile in_memory(std::span<const std::byte> bytes, std::string name);

  ModelFile(ModelFile&& other) noexcept;
  ModelFile& operator=(ModelFile&& other) = delete;
  ~ModelFile();

  /// When it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Fills `to` with the bytes from `at` on, all of which were there when the file was opened.
  /// AXLE_IO if they no longer are, or cannot be read.
  [[nodiscard]] Result<void> read(std::uint64_t at, std::span<std::byte> to) const;

 private:
  explicit ModelFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  int descriptor_ = -1;                ///< -1: in memory
  const std::byte* memory_ = nullptr;  ///< else null
  std::uint64_t size_ = 0;
};

/// A whole file as text. AXLE_IO also for more than `most_bytes`.
[[nodiscard]] Result<std::string> read_text(
    const std::string& path, std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max());

/// Of JSON files beside a model: the largest tokenizers have some 35 MB.
constexpr std::uint64_t largest_json_file = std::uint64_t{256} << 20U;

}  // namespace axle::runtime

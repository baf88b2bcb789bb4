#pragma once
// The source of an ELF file's bytes, and its errors.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

namespace axle::elf {

enum class ReadError : std::uint8_t {
  not_elf,
  other_format,  ///< 32 bits, or big endian
  outside,       ///< something is outside of the file, or implausibly large
  unreadable,    ///< the bytes could not be read
};

/// "is not an ELF file", …; to be appended to the file's name.
[[nodiscard]] std::string_view describe(ReadError error);

/// A file, read in ranges: for a library of several gigabytes only its tables are read.
class Bytes {
 public:
  /// `largest_range`: the maximum number of bytes requested at once.
  explicit Bytes(std::uint64_t largest_range) : largest_range_(largest_range) {}
  virtual ~Bytes() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Errors: outside, unreadable.
  [[nodiscard]] std::expected<std::string, ReadError> range(std::uint64_t offset,
                                                            std::uint64_t size);
  /// Whether the range is in the file, however large it is.
  [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t size) const;
  [[nodiscard]] std::uint64_t largest_range() const { return largest_range_; }

 protected:
  Bytes(const Bytes&) = default;
  Bytes& operator=(const Bytes&) = default;

 private:
  /// Fills `out` from `offset`, which are inside the file. False if they cannot be read.
  [[nodiscard]] virtual bool read(std::uint64_t offset, std::span<std::byte> out) = 0;

  std::uint64_t largest_range_;
};

/// `bytes` must outlive it.
class MemoryBytes final : public Bytes {
 public:
  explicit MemoryBytes(std::string_view bytes) : Bytes(bytes.size()), bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

 private:
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> out) override;

  std::string_view bytes_;
};

/// A file of this machine, opened without blocking. One that cannot be opened is empty.
class FileBytes final : public Bytes {
 public:
  FileBytes(const std::string& path, std::uint64_t largest_range);
  ~FileBytes() override;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  [[nodiscard]] std::uint64_t size() const override { return size_; }

 private:
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> out) override;

  int file_;
  std::uint64_t size_ = 0;
};

}  // namespace axle::elf

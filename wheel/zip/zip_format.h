#pragma once
// The records of a zip archive (PKWARE APPNOTE 6.3.10): numbers that the reader and the writer
// share.

#include <cstddef>
#include <cstdint>
#include <span>

namespace axle::wheel::zip {

inline constexpr std::uint32_t local_signature = 0x04034B50;
inline constexpr std::uint32_t central_signature = 0x02014B50;
inline constexpr std::uint32_t end_signature = 0x06054B50;
inline constexpr std::uint32_t end64_signature = 0x06064B50;
inline constexpr std::uint32_t locator64_signature = 0x07064B50;
inline constexpr std::uint32_t descriptor_signature = 0x08074B50;

inline constexpr std::size_t local_size = 30;    // without name and extra field
inline constexpr std::size_t central_size = 46;  // without name, extra field and comment
inline constexpr std::size_t end_size = 22;      // without comment
inline constexpr std::size_t end64_size = 56;
inline constexpr std::size_t locator64_size = 20;
inline constexpr std::size_t longest_comment = 0xFFFF;
inline constexpr std::size_t longest_descriptor = 24;

inline constexpr std::uint16_t stored = 0;
inline constexpr std::uint16_t deflated = 8;

inline constexpr std::uint16_t flag_encrypted = 1U << 0;
inline constexpr std::uint16_t flags_deflate_level = 3U << 1;  // how hard the writer tried
inline constexpr std::uint16_t flag_descriptor = 1U << 3;
inline constexpr std::uint16_t flag_patch = 1U << 5;
inline constexpr std::uint16_t flag_strong_encryption = 1U << 6;
inline constexpr std::uint16_t flag_utf8 = 1U << 11;
inline constexpr std::uint16_t flag_masked = 1U << 13;

inline constexpr std::uint16_t extra_zip64 = 0x0001;
inline constexpr std::uint16_t extra_unicode_path = 0x7075;

/// A field with this value has its true value in a Zip64 record.
inline constexpr std::uint16_t in_zip64_16 = 0xFFFF;
inline constexpr std::uint32_t in_zip64_32 = 0xFFFFFFFF;

inline constexpr std::uint32_t mode_type =
    0170000;  // S_IFMT and the like, as Unix archives store them
inline constexpr std::uint32_t mode_regular = 0100000;
inline constexpr std::uint32_t mode_directory = 0040000;
inline constexpr std::uint32_t dos_directory = 0x10;

/// Takes little-endian numbers from the front of bytes whose length the caller has checked.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  void skip(std::size_t count) { bytes_ = bytes_.subspan(count); }
  [[nodiscard]] std::span<const std::byte> rest() const { return bytes_; }

 private:
  std::uint64_t number(std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = width; i > 0; --i) {
      value = (value << 8) | std::to_integer<std::uint64_t>(bytes_[i - 1]);
    }
    bytes_ = bytes_.subspan(width);
    return value;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace axle::wheel::zip

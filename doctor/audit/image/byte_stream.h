#pragma once
// Bytes one after the other: of a layer as it lies in an image, and unpacked.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::doctor {

class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;
  /// Up to `out.size()` bytes; 0: the end. Errors: io, malformed.
  [[nodiscard]] virtual Result<std::size_t> read(std::span<std::byte> out) = 0;
  /// Without looking at them; how many there were, at most `bytes`. Errors: as of `read`.
  [[nodiscard]] virtual Result<std::uint64_t> skip(std::uint64_t bytes);
};

/// A part of a file.
struct ByteRange {
  std::shared_ptr<wheel::ByteSource> source;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// What the unpacked bytes may be, against bombs.
struct UnpackLimits {
  std::uint64_t free_size = 1ULL << 30;  ///< bytes that any layer may have
  std::uint64_t ratio = 1100;            ///< unpacked : packed beyond (deflate's bound is 1032)
  std::uint64_t size = 1ULL << 40;       ///< bytes
};

/// The bytes of a range that is gzip (also of several members), zstd (of several frames), or
/// neither. `sha256`: hexadecimal, of the range as it is; checked at the end; empty: unknown.
/// `where` names it in errors. Errors: unsupported (libzstd is not installed), malformed, mismatch,
/// io.
[[nodiscard]] Result<std::unique_ptr<ByteStream>> open_unpacked(ByteRange range, std::string where,
                                                                std::string sha256 = {},
                                                                const UnpackLimits& limits = {});

}  // namespace axle::doctor

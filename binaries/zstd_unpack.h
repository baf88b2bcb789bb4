#pragma once
// Decompresses a zstd frame (RFC 8878), or its beginning, with the system's libzstd, which is
// opened on first use: few libraries need it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

/// At most `wanted` bytes of the decompressed content of `packed`, the beginning of a frame; fewer
/// if it ends. Errors: unsupported (libzstd is not installed), malformed.
[[nodiscard]] Result<std::string> unpack_zstd_prefix(std::string_view packed, std::size_t wanted);

struct ZstdFrame {
  std::string bytes;              ///< decompressed
  std::uint64_t packed_size = 0;  ///< bytes that the frame itself takes
};

/// The frame at the beginning of `packed`, which says nowhere where it ends, decompressed to at
/// most `most` bytes. Errors: unsupported (libzstd is not installed, or the content is larger),
/// malformed (no frame, or truncated), those of reading.
[[nodiscard]] Result<ZstdFrame> unpack_zstd_frame(wheel::ByteSource& packed, std::size_t most);

}  // namespace axle::binaries

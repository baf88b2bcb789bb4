#pragma once
// Decompresses the beginning of a zstd frame (RFC 8878) with the system's libzstd, which is opened
// on first use: few libraries need it.

#include <cstddef>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::binaries {

/// At most `wanted` bytes of the decompressed content of `packed`, the beginning of a frame; fewer
/// if it ends. Errors: unsupported (libzstd is not installed), malformed.
[[nodiscard]] Result<std::string> unpack_zstd_prefix(std::string_view packed, std::size_t wanted);

}  // namespace axle::binaries

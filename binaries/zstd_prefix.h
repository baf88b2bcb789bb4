#pragma once
// The beginning of a zstd frame (RFC 8878), unpacked with the system's libzstd, which is opened on
// the first use: few libraries need it.

#include <cstddef>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::binaries {

/// At most `wanted` bytes of what `packed`, the beginning of a frame, unpacks to; fewer where it
/// ends. Errors: unsupported (no libzstd here), malformed.
[[nodiscard]] Result<std::string> unpack_zstd_prefix(std::string_view packed, std::size_t wanted);

}  // namespace axle::binaries

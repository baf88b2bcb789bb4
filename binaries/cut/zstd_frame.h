#pragma once
// Whole zstd frames, by the system's libzstd.

#include <cstdint>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::binaries {

/// Errors: malformed (no frame, not whole, or another size than `size`), unsupported (no libzstd).
[[nodiscard]] Result<std::string> unpack_zstd(std::string_view packed, std::uint64_t size);
/// The same bytes give the same frame. Error: unsupported.
[[nodiscard]] Result<std::string> pack_zstd(std::string_view bytes);

}  // namespace axle::binaries

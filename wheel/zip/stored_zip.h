#pragma once
// Writes zip archives whose files are stored as they are, of any size, piece by piece.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

using ZipSink = std::function<Result<void>(std::string_view)>;

struct StoredMember {
  std::string path;  ///< as a ZipReader takes it
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
  std::function<Result<void>(const ZipSink&)> content;  ///< gives it: `size` bytes with `crc32`
};

/// The same members give the same bytes: all are of 1980-01-01. With Zip64 records where a size, a
/// place or the number of members needs them. Errors: those of `sink` and of contents; mismatch, if
/// a content is not what its member says.
[[nodiscard]] Result<void> write_stored_zip(const std::vector<StoredMember>& members,
                                            const ZipSink& sink);

}  // namespace axle::wheel

#pragma once
// The content of one entry: read in chunks, inflated, measured and summed. Private to the zip
// reader.

#include <cstdint>
#include <span>
#include <string>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::wheel::zip {

/// Streams the content of `entry`, which begins at `data_offset`, to `sink`. `ahead` are bytes
/// already read from there (none, some or all). Never hands out more than entry.size bytes;
/// succeeds only if size, packed size and CRC-32 are exactly the entry's.
[[nodiscard]] Result<void> read_content(ByteSource& source, const std::string& where,
                                        const ZipEntry& entry, std::uint64_t data_offset,
                                        std::span<const std::byte> ahead,
                                        const ZipReader::Sink& sink);

}  // namespace axle::wheel::zip

#pragma once
// The content of one entry: read in chunks, inflated, measured and summed. Private to the zip
// reader.

#include <cstdint>
#include <span>
#include <string>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::wheel::zip {

/// Where the content is read from.
struct ContentStart {
  ContentPlace place;                 ///< of a whole content only its data_offset counts
  std::span<const std::byte> ahead;   ///< packed bytes already read from there: none, some or all
  std::span<const std::byte> window;  ///< what was unpacked before it
};

/// Streams the content of `entry` from `start` to `sink`. Never hands out more than entry.size
/// bytes; succeeds only if size, packed size and CRC-32 are exactly the entry's. `wanted`: as of
/// ZipReader::read_in_order.
[[nodiscard]] Result<void> read_content(ByteSource& source, const std::string& where,
                                        const ZipEntry& entry, const ContentStart& start,
                                        const ZipReader::Sink& sink,
                                        const PlacesWanted* wanted = nullptr);

}  // namespace axle::wheel::zip

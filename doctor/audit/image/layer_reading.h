#pragma once
// One layer of an image: the names in it and its libraries.

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/audit/audited.h"
#include "doctor/audit/image/byte_stream.h"
#include "doctor/audit/image/tar_reader.h"
#include "doctor/audit/library_reading.h"
#include "foundation/report/error.h"

namespace axle::doctor {

/// Of a layer, and of all layers of an image together, in bytes.
inline constexpr std::uint64_t most_image_names = 1ULL << 30;

struct LayerEntry {
  std::string path;
  TarKind kind = TarKind::file;
  std::uint64_t size = 0;
  std::string link = {};  ///< of a hard link: the path that it is another name of
};

struct LayerContent {
  std::vector<LayerEntry> entries;        ///< as in the archive, whiteouts too
  std::vector<ReadLibrary> libraries;     ///< of the layer alone
  std::vector<std::string> libraries_at;  ///< their paths
  std::vector<std::string> faults;        ///< members that no layer may have
  std::uint64_t names = 0;                ///< bytes of all names in it
};

/// Errors: as of TarReader and open_unpacked.
[[nodiscard]] Result<LayerContent> read_layer(ByteRange range, std::string where,
                                              std::string sha256, unsigned threads);

}  // namespace axle::doctor

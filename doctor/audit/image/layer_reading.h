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

struct LayerEntry {
  std::string path;
  TarKind kind = TarKind::file;
  std::uint64_t size = 0;
};

struct LayerContent {
  std::vector<LayerEntry> entries;        ///< as in the archive, whiteouts too
  std::vector<ReadLibrary> libraries;     ///< of the layer alone
  std::vector<std::string> libraries_at;  ///< their paths
  std::vector<std::string> faults;        ///< members that no layer may have
};

/// Errors: as of TarReader and open_unpacked.
[[nodiscard]] Result<LayerContent> read_layer(ByteRange range, std::string where,
                                              std::string sha256, unsigned threads);

}  // namespace axle::doctor

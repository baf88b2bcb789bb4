#pragma once
// Compares what is installed with its RECORD.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/environment.h"
#include "installer/environment/installed.h"
#include "installer/environment/roots.h"
#include "wheel/record.h"

namespace axle::installer {

enum class RecordFault : std::uint8_t {
  missing,   ///< missing, or not a file
  cut_off,   ///< shorter than in RECORD
  changed,   ///< different content
  outside,   ///< RECORD points outside the environment
  no_hash,   ///< RECORD has none: changes cannot be detected
  metadata,  ///< METADATA does not follow from the wheel's own, or pip and uv cannot read it
};

struct FaultyFile {
  std::string path;  ///< as in RECORD
  RecordFault fault;
  std::string fact;  ///< "is missing", "has 3 bytes, RECORD has 5"
};

enum class ContentCheck : std::uint8_t {
  size_and_time,  ///< by hash only files newer than RECORD, which installers write last
  hash,           ///< every file by its hash
};

/// Checks the entries of `record`, except byte code, which changes legitimately. For packages of
/// conda, which writes prefixes into files after their RECORD, content is not compared. Files that
/// this user cannot access are skipped.
[[nodiscard]] std::vector<FaultyFile> compare_with_record(
    const InstalledDistribution& distribution, const std::vector<wheel::RecordEntry>& record,
    PathResolver& resolver, ContentCheck check);

}  // namespace axle::installer

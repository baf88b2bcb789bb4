#pragma once
// What is installed, compared with its RECORD.

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
  missing,   ///< gone, or no file
  cut_off,   ///< shorter than RECORD says
  changed,   ///< other content
  outside,   ///< RECORD leads out of the environment
  no_hash,   ///< RECORD gives none: whether it changed nobody can tell
  metadata,  ///< METADATA is not what follows from the wheel's own, or pip and uv cannot read it
};

struct FaultyFile {
  std::string path;  ///< as RECORD has it
  RecordFault fault;
  std::string fact;  ///< "is gone", "has 3 bytes, RECORD says 5"
};

enum class ContentCheck : std::uint8_t {
  size_and_time,  ///< by hash only what is newer than RECORD, which installers write last
  hash,           ///< every file by its hash
};

/// By the entries of `record`, byte code left out: it comes and goes. Of packages of conda, which
/// writes prefixes into files after their RECORD, content is not compared. What this user may not
/// look at is skipped.
[[nodiscard]] std::vector<FaultyFile> compare_with_record(
    const InstalledDistribution& distribution, const std::vector<wheel::RecordEntry>& record,
    PathResolver& resolver, ContentCheck check);

}  // namespace axle::installer

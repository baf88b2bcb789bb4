#pragma once
// Finds wheels in a folder and reads what an index says about them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_name.h"

namespace axle::index {

struct ScannedWheel {
  std::string path;
  std::string filename;
  std::string project;  ///< normalised
  wheel::WheelName name;
  std::string sha256;
  std::uint64_t size = 0;
  std::string requires_python;  ///< as written
  std::string metadata_text;
  std::string metadata_sha256;
  std::optional<wheel::VariantMetadata> variant;
};

/// All wheels under `folder`, each validated with its RECORD, sorted by file name. Folders whose
/// names begin with "." and the folder `skipped` are not entered. The same file found twice counts
/// once. Errors: not_found (none there), malformed or mismatch (a broken wheel, named; two
/// different wheels of one name, both named), io.
[[nodiscard]] Result<std::vector<ScannedWheel>> scan_wheels(const std::string& folder,
                                                            const std::string& skipped,
                                                            Report& report);

/// One that is published already, with the hash under which it is listed. Its RECORD was checked
/// when it was published. Errors: as scan_wheels.
[[nodiscard]] Result<ScannedWheel> read_published_wheel(const std::string& path, std::string sha256,
                                                        Report& report);

}  // namespace axle::index

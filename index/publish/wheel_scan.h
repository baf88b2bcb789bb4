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
  bool is_here = true;  ///< `path` is a file of this machine, not an object of a storage
  std::string filename;
  std::string project;  ///< normalised
  wheel::WheelName name;
  std::string sha256;
  std::uint64_t size = 0;
  std::string requires_python;  ///< as written
  std::string metadata_text;
  std::string metadata_sha256;
  bool has_provenance = false;  ///< "<file>.provenance" is beside it
  std::string provenance;       ///< its text, if the wheel was read from a folder
  std::optional<wheel::VariantMetadata> variant;
};

/// All wheels under `folder`, each validated with its RECORD, sorted by file name. Folders whose
/// names begin with "." and the folder `skipped` are ignored. The same file found twice counts
/// once. Errors: not_found (there are none), malformed or mismatch (the name of an invalid wheel,
/// or of two different wheels with the same name), io.
[[nodiscard]] Result<std::vector<ScannedWheel>> scan_wheels(const std::string& folder,
                                                            const std::string& skipped,
                                                            Report& report);

struct HashedFile {
  std::string sha256;  ///< hexadecimal
  std::uint64_t size = 0;
};
/// Errors: not_found, io.
[[nodiscard]] Result<HashedFile> hash_file(const std::string& path);

/// Where the wheels are that scan_wheels reads.
[[nodiscard]] Result<std::vector<std::string>> find_wheels(const std::string& folder,
                                                           const std::string& skipped);

/// The same of the wheels at these paths.
[[nodiscard]] Result<std::vector<ScannedWheel>> scan_wheels(std::vector<std::string> paths,
                                                            Report& report);

/// One that is already published, with the hash in its page. Its RECORD was checked when it was
/// published. Errors: as scan_wheels.
[[nodiscard]] Result<ScannedWheel> read_published_wheel(const std::string& path, std::string sha256,
                                                        Report& report);

}  // namespace axle::index

#pragma once
// The files of a dist-info folder that say what is installed, before they are interpreted.

#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"

namespace axle::installer {

struct MetadataFiles {
  std::string metadata;  ///< METADATA (of an egg-info, PKG-INFO) up to its description
  // nullopt: there is none.
  std::optional<std::string> variant;     ///< variant.json
  std::optional<std::string> family;      ///< axle-family.json
  std::optional<std::string> installer;   ///< INSTALLER
  std::optional<std::string> direct_url;  ///< direct_url.json
  bool requested = false;                 ///< REQUESTED exists
  bool has_record = false;                ///< RECORD exists, as a file

  friend bool operator==(const MetadataFiles&, const MetadataFiles&) = default;
};

/// Path of what has the headers: in `folder`, or an *.egg-info file itself. Error: io.
[[nodiscard]] Result<std::string> find_metadata(const std::string& folder);

/// Of a *.dist-info or *.egg-info folder. A note that is not a text file counts as missing. Errors:
/// not_found, malformed (no metadata, or too long), io.
[[nodiscard]] Result<MetadataFiles> read_metadata_files(const std::string& folder);

/// The folder and those files that it has: as long as their states are the same, so is what they
/// say. Error: io.
[[nodiscard]] Result<std::vector<std::string>> metadata_paths(const std::string& folder,
                                                              const MetadataFiles& files);

}  // namespace axle::installer

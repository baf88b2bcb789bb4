#pragma once
// What the dist-info folders of a folder of packages said, kept in the cache: the next command
// looks at their times instead of opening and parsing hundreds of files.
//
// Of METADATA it has what an installer interprets (wheel::essential_metadata). A folder whose
// METADATA is not quite right is not kept, so that every command says so.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "installer/environment/metadata_files.h"

namespace axle::installer {

struct KeptMetadata {
  std::string states;  ///< of its metadata_paths when they were read (path_states.h)
  MetadataFiles files;

  friend bool operator==(const KeptMetadata&, const KeptMetadata&) = default;
};

/// By the name of the folder.
using SiteSnapshot = std::map<std::string, KeptMetadata, std::less<>>;

/// Fields (installer/sealed_fields.h). What has a NUL byte is left out.
[[nodiscard]] std::string render_site_snapshot(const SiteSnapshot& snapshot, std::string_view site);
/// Errors: malformed; unsupported (of another version); mismatch (of another site).
[[nodiscard]] Result<SiteSnapshot> parse_site_snapshot(std::string_view text, std::string_view site,
                                                       std::string_view where);

/// The one of `site` in `cache_folder`; empty where there is none that can be read.
[[nodiscard]] SiteSnapshot read_site_snapshot(const std::string& cache_folder,
                                              const std::string& site);
/// Best effort: without it the files are read again.
void write_site_snapshot(const std::string& cache_folder, const std::string& site,
                         const SiteSnapshot& snapshot);

}  // namespace axle::installer

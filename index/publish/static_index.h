#pragma once
// Writes a static index: simple API in JSON and HTML, variants files, core-metadata files.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/publish/index_place.h"
#include "index/publish/removal_target.h"

namespace axle::index {

struct IndexedProject {
  std::string name;                 ///< normalised
  std::vector<std::string> files;   ///< file names, wheels and variants files
  std::vector<std::string> labels;  ///< variant labels, sorted
  std::vector<std::string> added;   ///< wheels that were not published before
};

struct StaticIndex {
  std::string folder;
  std::vector<IndexedProject> projects;  ///< everything in the index now
};

/// Finds the wheels under `wheels_folder` (recursively) and adds them to the index in `out_folder`:
///   simple/index.json|html, simple/<name>/index.json|html (index.html links, relative URLs), the
///   wheels (copies), `<wheel>.metadata`, `{name}-{version}-variants.json`.
/// What is published already stays, with its bytes. The index appears whole or not at all: it is
/// written beside `out_folder` and renamed into place; a second run at the same time is refused.
/// Errors: mismatch when two wheels, published or new, have one name and different bytes, give one
/// label two meanings or contradict each other's priorities or providers (both are named);
/// malformed for a broken wheel (named); io, also for a folder that holds somebody else's files.
[[nodiscard]] Result<StaticIndex> build_static_index(const std::string& wheels_folder,
                                                     const std::string& out_folder, Report& report);

/// The same in `place`, which may be a storage (index/storage/stored_place.h): there, files come
/// before the pages that name them. What was published there before is only read in the projects
/// concerned, and the result has those alone.
[[nodiscard]] Result<StaticIndex> build_static_index(const std::string& wheels_folder,
                                                     IndexPlace& place, Report& report);

/// The same with the wheels at these paths alone.
[[nodiscard]] Result<StaticIndex> add_to_static_index(const std::vector<std::string>& wheels,
                                                      IndexPlace& place, Report& report);

/// The absolute path of a folder, given as a path or a file URL.
[[nodiscard]] Result<std::string> resolved_path(const std::string& location);

/// The absolute path of `out_folder`, a path or a file URL, where an index is or can be made.
/// Error: io, if it has somebody else's files.
[[nodiscard]] Result<std::string> find_static_index(const std::string& out_folder);

struct RemovedFile {
  std::string project;
  std::string filename;
};

struct RemovedFiles {
  std::string folder;
  std::vector<RemovedFile> removed;  ///< wheels, and variants files that no variant needs any more
};

}  // namespace axle::index

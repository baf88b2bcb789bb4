#pragma once
// Brings an index up to date: with the wheels of a folder that it does not have, with records of
// files, or only its pages. Memory is that of a part of the records, however many there are.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/publish/index_place.h"
#include "index/publish/static_index.h"

namespace axle::index {

struct UpdatedIndex {
  std::string folder;
  std::uint64_t projects = 0;  ///< whose pages were written
  std::uint64_t files = 0;     ///< that were added or, of records, named
};

/// Adds the wheels under `wheels_folder` that no page lists, without reading those that one lists
/// with their size; in a folder one that is newer than what was published is read, too. Errors:
/// those of build_static_index.
[[nodiscard]] Result<UpdatedIndex> update_from_folder(const std::string& wheels_folder,
                                                      IndexPlace& place,
                                                      std::optional<std::int64_t> uploaded,
                                                      Report& report);

/// Adds files of which only records are known, or replaces what pages say of them. `file`: JSON
/// lines, or "-" for standard input; each is an entry of `files` in the JSON of a project page
/// (PEP 691) of a wheel or variants file, with filename, hashes.sha256 and size. A file
/// with its own name as `url` is beside the page already. `scratch`: a folder for temporary files,
/// if the index is in a storage. Errors: malformed (with the line),
/// io, conflict.
[[nodiscard]] Result<UpdatedIndex> update_from_records(const std::string& file, IndexPlace& place,
                                                       const std::string& scratch, Report& report);

/// Writes all pages anew from what they say, as far as they differ then.
[[nodiscard]] Result<UpdatedIndex> update_pages(IndexPlace& place, Report& report);

}  // namespace axle::index

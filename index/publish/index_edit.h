#pragma once
// Changes of an index that cost what they change: wheels are added, removed and yanked (PEP 592) in
// the projects concerned. Another publisher at the same time is waited for, or what it published is
// read and the change made again: nothing is lost.

#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/publish/index_place.h"
#include "index/publish/static_index.h"
#include "index/publish/wheel_scan.h"

namespace axle::index {

/// Error: not_found, unless there is one.
[[nodiscard]] Result<void> require_index(IndexPlace& place);

/// Adds wheels that were scanned. `uploaded`: for those that are new, microseconds since 1970
/// (PEP 700). The result has the projects that they belong to. Errors: those of build_static_index.
[[nodiscard]] Result<StaticIndex> add_in_place(const std::vector<ScannedWheel>& wheels,
                                               IndexPlace& place,
                                               std::optional<std::int64_t> uploaded,
                                               Report& report);

/// Writes what a command that was killed has not written any more of these projects (a place whose
/// folder() is empty): the forms of their pages, the pages of the index.
[[nodiscard]] Result<void> write_in_place(const std::vector<std::string>& projects,
                                          IndexPlace& place, Report& report);

/// Removes the wheels of `targets`, only those with one of `labels` unless that is empty; variants
/// files and pages are updated. With `dry_run` nothing is changed. Errors: not_found if there is no
/// index, or a target matches nothing (the hint lists what exists), and those of
/// build_static_index.
[[nodiscard]] Result<RemovedFiles> remove_in_place(IndexPlace& place,
                                                   const std::vector<RemovalTarget>& targets,
                                                   const std::vector<std::string>& labels,
                                                   bool dry_run, Report& report);

/// Marks wheels: installers take them only if their version is pinned. `reason`: for people, may be
/// empty; nullopt: they are marked no more. The result has those that matched. The rest as above.
[[nodiscard]] Result<RemovedFiles> yank_in_place(IndexPlace& place,
                                                 const std::vector<RemovalTarget>& targets,
                                                 const std::vector<std::string>& labels,
                                                 const std::optional<std::string>& reason,
                                                 bool dry_run, Report& report);

}  // namespace axle::index

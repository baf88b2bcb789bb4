#pragma once
// Writes a static index: simple API in JSON and HTML, variants files, core-metadata files.

#include <string>
#include <vector>

#include "report/error.h"
#include "report/report.h"

namespace axle::index {

struct IndexedProject {
  std::string name;                 ///< normalised
  std::vector<std::string> files;   ///< file names, wheels and variants files
  std::vector<std::string> labels;  ///< variant labels, sorted
};

struct StaticIndex {
  std::string folder;
  std::vector<IndexedProject> projects;
};

/// Finds the wheels under `wheels_folder` (recursively) and writes the index to `out_folder`:
///   simple/index.json|html, simple/<name>/index.json|html (index.html links, relative URLs), the
///   wheels (hard-linked, else copied), `<wheel>.metadata`, `{name}-{version}-variants.json`.
/// The index appears whole or not at all: it is written beside `out_folder` and renamed into place.
/// Errors: mismatch when two wheels give one label two meanings or contradict each other's
/// priorities or providers (both are named); malformed for a broken wheel (named); io.
[[nodiscard]] Result<StaticIndex> build_static_index(const std::string& wheels_folder,
                                                     const std::string& out_folder, Report& report);

}  // namespace axle::index

#pragma once
// Builds the variants of a project: reads its pyproject.toml (`[variant]`, `[tool.axle]`), runs
// CMake once per variant, writes reproducible wheels with variant.json and a computed platform tag.

#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::builder {

struct BuildOptions {
  std::string project_folder;
  std::string out_folder;           ///< default: project_folder/dist
  std::string work_folder;          ///< CMake trees; default: a temporary folder
  std::vector<std::string> labels;  ///< only these; empty: the whole matrix
  std::uint64_t source_date_epoch = 0;
  unsigned jobs = 0;  ///< 0: as many as there are CPUs
};

struct BuiltWheel {
  std::string file;   ///< absolute path
  std::string label;  ///< empty for a plain wheel
  std::string sha256;
  std::uint64_t size = 0;
};

/// Errors: not_found (no pyproject, unknown label: the known ones), malformed (file, line, key),
/// unsupported (a compiler that lacks a flag), io (CMake failed: the last lines of its output).
[[nodiscard]] Result<std::vector<BuiltWheel>> build_project(const BuildOptions& options,
                                                            Report& report);

}  // namespace axle::builder

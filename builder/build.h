#pragma once
// Builds the variants of a project: reads its pyproject.toml (`[variant]`, `[tool.axle]`), runs
// CMake or the project's own back end once per variant, writes reproducible wheels with
// variant.json and a computed platform tag.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "builder/back_end_build.h"
#include "builder/toolchains/toolchain.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::builder {

struct BuildOptions {
  std::string project_folder;
  std::string out_folder;  ///< default: project_folder/dist
  /// What is built stays there, and the next build goes on from it; default: a temporary folder.
  std::string work_folder;
  std::vector<std::string> labels;         ///< only these; "plain": the plain wheel; empty: all
  std::vector<std::string> architectures;  ///< only these; empty: all
  std::uint64_t source_date_epoch = 0;
  unsigned jobs = 0;  ///< of all rows together; 0: as many as there are CPUs
  ToolchainPlaces toolchains = {};
  /// Whether --config-settings was given: an error if no back end gets them.
  bool configures_back_end = false;
  /// Called once, before the first compile, if a back end is to be run; unset: none can be.
  std::function<Result<BackEnd>()> open_back_end = {};
  /// Variables of this program's environment that may decide what is made: CFLAGS, FORCE_CUDA.
  Definitions inherited = {};
};

struct BuiltWheel {
  std::string file;          ///< absolute path
  std::string label;         ///< empty for a plain wheel
  std::string architecture;  ///< "x86_64"; empty: of Python code alone
  std::string sha256;
  std::uint64_t size = 0;
  std::string log;                       ///< the complete output of its build; empty: none was kept
  bool reused = false;                   ///< nothing had changed since it was built
  std::vector<std::string> unused = {};  ///< CMake variables of the table that CMake says so of
};

/// In the order of the matrix. Before the first compile all rows' compilers are found and tried.
/// Rows are built at once; after a failure no further one begins, and wheels that are finished
/// stay. Errors: not_found (no pyproject, unknown label: the known ones, a compiler), malformed
/// (file, line, key), unsupported (a compiler that lacks a flag), mismatch (what was built is not
/// what its row declares), io (CMake failed: the last lines of its output).
[[nodiscard]] Result<std::vector<BuiltWheel>> build_project(const BuildOptions& options,
                                                            Report& report);

}  // namespace axle::builder

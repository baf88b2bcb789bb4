#pragma once
// Builds one row: by CMake, by the project's back end, or out of a wheel that exists; or finds that
// nothing has changed since it was built.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/build.h"
#include "builder/compilation.h"
#include "builder/project.h"
#include "builder/toolchains/toolchain.h"
#include "builder/trees/output_folder.h"

namespace axle::builder {

/// How a row comes about.
enum class RowOrigin : std::uint8_t {
  files,     ///< Python code, and what a CMake project installs
  back_end,  ///< a wheel of the project's back end
  wheel,     ///< a wheel that exists
};
[[nodiscard]] RowOrigin origin_of(const Project& project, const MatrixRow& row);

/// Everything about a row that is settled before anything is compiled.
struct PlannedRow {
  MatrixRow row;
  std::string name;   ///< "v3", "plain", "null-aarch64": of its folder, unique
  std::string title;  ///< "variant v3", in messages
  Compilation compilation;
  Toolchain toolchain;  ///< of rows that compile nothing without compilers
  std::string work;     ///< its folder
};

/// What all rows share.
struct BuildPlan {
  const Project& project;
  std::string folder;  ///< of the project, absolute
  const OutputFolder& out;
  const BuildOptions& options;
  BackEnd back_end = {};           ///< of rows that need one
  bool keeps = false;              ///< the rows' folders stay: records are of use
  std::vector<std::string> files;  ///< of the project, absolute
};

/// Compiles up to `jobs` files at once. `progress` hears how far it is: "12/57". Several rows may
/// be built at once.
[[nodiscard]] Result<BuiltWheel> build_row(const BuildPlan& plan, const PlannedRow& row,
                                           unsigned jobs,
                                           const std::function<void(std::string_view)>& progress,
                                           Report& report);

}  // namespace axle::builder

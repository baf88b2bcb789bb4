#pragma once
// Runs CMake for one variant: configure, build, install into a staging folder.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/compilation.h"
#include "builder/project.h"
#include "builder/toolchains/toolchain.h"
#include "foundation/report/error.h"

namespace axle::builder {

struct CMakeJob {
  std::string project;      ///< absolute; called /src in the binaries
  std::string source;       ///< absolute, inside the project
  std::string work_folder;  ///< absolute, of this variant alone: build, stage, build.log
  std::string build_type;
  const Toolchain& toolchain;
  const Compilation& compilation;
  Definitions define;
  Definitions environment;
  Definitions inherited;  ///< CFLAGS and others of this program's environment
  std::uint64_t source_date_epoch = 0;
  unsigned jobs = 0;
  /// Hears "12/57", as files are compiled.
  std::function<void(std::string_view)> progress = {};
};

/// The configuration as cache variables of CMake, without those that depend on folders, which are
/// added to the flags among them.
[[nodiscard]] Definitions cmake_definitions(const CMakeJob& job);

/// Returns the folder that represents site-packages. A build folder that is there goes on where it
/// was. The binaries do not contain paths of this machine. Errors: io (CMake failed: the last
/// lines of its output), malformed (files installed elsewhere), unsupported (a path that compiler
/// flags cannot carry).
[[nodiscard]] Result<std::string> run_cmake(const CMakeJob& job);

/// Every file that the finished build in `work_folder` read, absolute and sorted, of other folders
/// too: sources, headers, CMake's own. Empty: Ninja does not say.
[[nodiscard]] std::vector<std::string> cmake_inputs(const std::string& work_folder);

/// Of what was defined, the variables that the project in `work_folder` did not read, as CMake
/// said.
[[nodiscard]] std::vector<std::string> unused_variables(const std::string& work_folder);

/// The variables that it has: its options and cache entries.
[[nodiscard]] std::vector<std::string> cache_variables(const std::string& work_folder);

/// CMake's toolchain file of a cross build, in `folder`; empty: the machine's own compilers.
[[nodiscard]] Result<std::string> write_toolchain_file(const Toolchain& toolchain,
                                                       const std::string& folder);

/// `maps` for CMAKE_HIP_FLAGS, which CMake splits at blanks, quoted or not, when it identifies the
/// compiler: without quotes, unless a path has blanks.
[[nodiscard]] std::string maps_for_hip(std::string maps);

/// What CMake's language HIP needs to be told where hipcc is the compiler: in `folder` its
/// description of HIP's runtime, where the system has none that CMake finds (Debian 12: not below
/// /usr/lib/cmake, and with -isystem /usr/include). Nothing where clang was found without hipcc.
[[nodiscard]] Result<Definitions> hip_definitions(const Toolchain& toolchain,
                                                  const std::string& folder);

/// Flags after which no path of this machine is in what compilers write: of `folders`, the name
/// that stands for each. Error: unsupported (a path that flags cannot carry).
[[nodiscard]] Result<std::string> mapped_paths(
    const std::vector<std::pair<std::string, std::string>>& folders);

}  // namespace axle::builder

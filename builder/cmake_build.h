#pragma once
// Runs CMake for one variant: configure, build, install into a staging folder.

#include <cstdint>
#include <string>
#include <vector>

#include "builder/compile_flags.h"
#include "builder/project.h"
#include "foundation/report/error.h"

namespace axle::builder {

/// The compilers that CMake picks in this environment.
struct Compilers {
  std::string c;
  std::string cxx;  ///< empty if there is none
};

/// Asks CMake itself, in `work_folder`, so that CC, CXX and its own search apply as in the build.
/// Errors: not_found (cmake, ninja or a C compiler is missing: what to install), io.
[[nodiscard]] Result<Compilers> find_compilers(const std::string& work_folder);

/// Tries `flags` with the compilers. Error: unsupported, with flag, compiler and property.
[[nodiscard]] Result<void> check_flags(const Compilers& compilers,
                                       const std::vector<CompileFlag>& flags,
                                       const std::string& work_folder);

struct CMakeJob {
  std::string project;      ///< absolute; called /src in the binaries
  std::string source;       ///< absolute, inside the project
  std::string work_folder;  ///< absolute, of this variant alone: build, stage, build.log
  std::string build_type;
  std::string flags;
  Definitions define;
  std::uint64_t source_date_epoch = 0;
  unsigned jobs = 0;
};

/// Returns the folder that represents site-packages. The binaries do not contain paths of this
/// machine. Errors: io (CMake failed: the last lines of its output), malformed (files installed
/// elsewhere).
[[nodiscard]] Result<std::string> run_cmake(const CMakeJob& job);

}  // namespace axle::builder

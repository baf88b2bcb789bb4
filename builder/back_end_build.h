#pragma once
// Makes a variant with the back end that the project's [build-system] names (PEP 517): in a copy of
// the project, told what the row says in the ways that the back end has.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "builder/compilation.h"
#include "builder/table/row_settings.h"
#include "builder/toolchains/toolchain.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::builder {

/// One run of a back end.
struct BackEndRun {
  std::string project;  ///< a copy that the back end may write to
  std::string into;     ///< an empty folder, for the wheel
  std::string scratch;  ///< for temporary files
  std::string log;      ///< its output is appended
  Definitions variables;
  Definitions config_settings;  ///< a name may be there repeatedly
  std::string title;            ///< "variant v3"
};

/// What runs back ends: pip or uv, in isolation. builder/ knows neither.
struct BackEnd {
  std::function<Result<void>(const BackEndRun& run, Report& report)> run = {};
  std::string identity = {};  ///< interpreter and tool; another one may make another wheel
  /// With which its interpreter's modules are compiled: "-DNDEBUG -O3". setuptools takes CFLAGS in
  /// their place.
  std::string compile_flags = {};
};

struct BackEndJob {
  std::string name;         ///< the package of the back end: "scikit-build-core"
  std::string project;      ///< absolute; called /src in the binaries
  std::string work_folder;  ///< absolute, of this variant alone: source, tree, made, build.log
  std::vector<std::string> files;  ///< of the project, absolute
  std::string label;
  const Toolchain& toolchain;
  const Compilation& compilation;
  Definitions define;  ///< of CMake
  Definitions environment;
  Definitions config_settings;
  Definitions inherited;  ///< CFLAGS and others of this program's environment
  std::uint64_t source_date_epoch = 0;
  unsigned jobs = 0;
};

/// That the back end can be told what the job says. Errors: unsupported (definitions of CMake for a
/// back end without it, another architecture for one that cannot).
[[nodiscard]] Result<void> check_back_end(const std::string& name, const RowSettings& settings,
                                          const Toolchain& toolchain);

/// The file of the wheel. Errors: those of the run; malformed (not one wheel), io.
[[nodiscard]] Result<std::string> run_back_end(const BackEndJob& job, const BackEnd& back_end,
                                               Report& report);

}  // namespace axle::builder

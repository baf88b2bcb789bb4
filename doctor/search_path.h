#pragma once
// Where an interpreter that a user starts here searches modules: sys.path, with what put each
// folder there. The interpreter is asked without `site`; what `site` adds is read from the files
// that it reads (Python documentation, "site"). What sys.path has besides, as the interpreter has
// it when it starts with `site`, is the work of programs that those files are or name.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "doctor/start/start_trial.h"
#include "foundation/report/error.h"
#include "installer/environment/environment.h"

namespace axle::doctor {

struct SearchFolder {
  enum class By : std::uint8_t {
    current_folder,  ///< of programs started with -c, -m or interactively, and of scripts in it
    python_path,
    standard_library,
    user_site,
    site,  ///< of the environment, or an outer one
    pth,
    program,  ///< in a .pth file, a sitecustomize or usercustomize
  };
  By by = By::site;
  std::string path;   ///< absolute
  std::string file;   ///< By::pth, By::program (empty: unknown)
  unsigned line = 0;  ///< in it, from 1 on; 0: unknown

  /// What would put it there too, were it not there already.
  struct Again {
    By by;
    std::string file;
    unsigned line;
    std::size_t place;  ///< the index of the folder that it would come before
  };
  std::vector<Again> again = {};
};

struct PathProgram {
  std::string file;
  unsigned line = 0;

  bool operator==(const PathProgram&) const = default;
};

struct SearchPath {
  std::vector<SearchFolder> folders;          ///< in the order of sys.path, each once
  std::vector<std::string> suffixes;          ///< of the compiled modules that it loads
  std::vector<std::string> standard_modules;  ///< those that a folder before could hide
  std::vector<PathProgram> programs;          ///< lines of .pth files that speak of sys.path
  std::vector<std::string> python_path;       ///< the items of PYTHONPATH as they are written
  bool may_leave_out_current_folder = false;  ///< it knows PYTHONSAFEPATH
};

/// `path` with links resolved, as far as it is there.
[[nodiscard]] std::string real_path(const std::string& path);

/// `path` without repeated separators, "." and "..", nor a separator at its end.
[[nodiscard]] std::string plain_path(const std::string& path);

/// Starts the interpreter once without `site`, in the current folder and with this process's
/// variables. `started`: what it had on the path when it was started with it; empty: what programs
/// do to the path is unknown. Error: malformed (it does not start so; its last message).
[[nodiscard]] Result<SearchPath> read_search_path(const installer::Environment& environment,
                                                  const StartedSearch& started = {});

}  // namespace axle::doctor

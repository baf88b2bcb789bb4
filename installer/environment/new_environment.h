#pragma once
// Makes a virtual environment, as the interpreter's own `venv` module does, without pip.

#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::installer {

struct NewEnvironment {
  std::string python;  ///< an interpreter; of a virtual environment: the one that it is based on
  std::string folder;  ///< absolute
  std::string prompt = {};  ///< what activated shells show; empty: the folder's name
  bool system_site_packages = false;
  bool replaces = false;  ///< an environment that is there
};

/// The folder is there with everything, or as it was before: it is made beside its place and
/// renamed. Errors: conflict (an environment is there, or a folder with files that is none), io,
/// unsupported (the interpreter has no `venv` module), malformed (it is no interpreter).
[[nodiscard]] Result<void> make_environment(const NewEnvironment& wanted, Report& report);

}  // namespace axle::installer

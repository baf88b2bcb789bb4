#pragma once
// The C and C++ compilers that CMake picks on this machine.

#include <string>

#include "builder/table/row_settings.h"
#include "foundation/report/error.h"

namespace axle::builder {

struct Compilers {
  std::string c;
  std::string cxx;  ///< empty if there is none
};

/// Asks CMake itself, in `work_folder`, so that CC, CXX and its own search apply as in the build.
/// `environment` is added to this program's; `told`, "CFLAGS=-g", are the variables that decide.
/// Errors: not_found (cmake, ninja or a C compiler is missing: what to install), unsupported (it
/// does not work: its own words), io.
[[nodiscard]] Result<Compilers> find_compilers(const std::string& work_folder,
                                               const Definitions& environment,
                                               const std::string& told);

/// That CMake and Ninja are there. Error: not_found, with what to install.
[[nodiscard]] Result<void> check_cmake();

}  // namespace axle::builder

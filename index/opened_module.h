#pragma once
// Modules of the program: what only some commands need, with a library that takes long to load.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::index {

struct Module {
  const char* file;      ///< "libaxle_curl.so"
  const char* title;     ///< for messages: "network module"
  const char* function;  ///< that it exports
};

/// Next to the program, then ../lib/axle/ from it.
[[nodiscard]] std::vector<std::string> module_paths(const Module& module);

/// The function that the program carries, or of the first of `paths` that exists, which stays open.
/// Error: io, with the searched paths.
[[nodiscard]] Result<void*> open_module(const Module& module,
                                        const std::vector<std::string>& paths);

/// Of the module at one of `paths`, whose function says that it was built with another program.
[[nodiscard]] std::unexpected<Error> other_release(const Module& module,
                                                   const std::vector<std::string>& paths);

}  // namespace axle::index

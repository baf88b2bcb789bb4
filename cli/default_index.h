#pragma once
// The index that pip would use when nothing is configured: asked of the interpreter's own pip,
// never a constant of ours.

#include <string>

#include "report/error.h"

namespace axle::cli {

struct DefaultIndex {
  std::string url;
  std::string origin;  ///< "pip of /usr/bin/python3"
};

/// The target interpreter's pip, else that of the `python3` on `path`. Error: not_found, with how
/// to name an index.
[[nodiscard]] Result<DefaultIndex> find_default_index(const std::string& python,
                                                      const std::string& path);

}  // namespace axle::cli

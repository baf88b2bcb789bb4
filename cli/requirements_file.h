#pragma once
// Requirements files, as pip reads them (pip's "Requirements File Format").

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "report/error.h"

namespace axle::cli {

struct RequirementsFile {
  std::vector<std::string> requirements;  ///< requirement texts and paths of wheels
  std::vector<std::string> constraints;
  Arguments options;  ///< -i, --extra-index-url, -f, --no-index, --pre found in the file
};

/// Comments, continued lines, ${VARIABLES}, nested -r and -c (relative to the file, each file
/// once). Errors: not_found/io for the file, malformed with file and line (an option that Axle does
/// not know, among them --hash, which is never ignored).
[[nodiscard]] Result<void> read_requirements_file(const std::string& path, bool as_constraints,
                                                  RequirementsFile& into);

}  // namespace axle::cli

#pragma once
// Where the files of a wheel go in an environment ("Binary distribution format", installing).

#include <cstddef>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/roots.h"
#include "installer/store/manifest.h"
#include "wheel/entry_points.h"

namespace axle::installer {

struct PlacedFile {
  std::string target;      ///< absolute, links resolved
  std::size_t stored = 0;  ///< index in Manifest::files
  bool script = false;     ///< its "#!python" line is rewritten
};

struct Layout {
  std::string site;       ///< the site-packages folder that holds the dist-info
  std::string dist_info;  ///< absolute
  std::vector<PlacedFile> files;
  std::string scripts_folder;
  std::vector<wheel::ScriptEntry> scripts;  ///< to be created there from entry points
};

/// Errors: malformed, for anything that would leave the environment, replace its interpreter or
/// activation, put two files at one path or pretend to be another package; nothing has been written
/// then.
[[nodiscard]] Result<Layout> lay_out(const Manifest& manifest, const Roots& roots);

}  // namespace axle::installer

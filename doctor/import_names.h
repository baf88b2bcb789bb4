#pragma once
// The names that a package can be imported by, from its RECORD and from the folders in its .pth
// files (Python documentation, "site"; editable installs).

#include <string>
#include <vector>

#include "doctor/installed_files.h"

namespace axle::doctor {

struct ImportName {
  std::string name;  ///< "google.protobuf.message"
  std::string path;  ///< relative to site-packages, or absolute outside of it
  /// Among those in one folder Python uses the lowest: a package, a compiled module, a source file;
  /// then those of folders in .pth files, which come after site-packages.
  unsigned rank = 0;
  bool from_pth = false;  ///< in a folder from a .pth file
};

/// A folder without __init__.py is not a name of its own: several packages may share it.
[[nodiscard]] std::vector<ImportName> import_names(const InstalledPackageFiles& package);

}  // namespace axle::doctor

#pragma once
// What a package can be imported by, from its RECORD and from the folders that its .pth files name
// (Python documentation, "site"; editable installs).

#include <string>
#include <vector>

#include "doctor/installed_files.h"

namespace axle::doctor {

struct ImportName {
  std::string name;  ///< "google.protobuf.message"
  std::string path;  ///< relative to site-packages, or absolute outside of it
  /// Of two in one folder Python takes the lower one: a package, a compiled module, a source file;
  /// then those of folders that .pth files name, which come after site-packages.
  unsigned rank = 0;
  bool from_pth = false;  ///< of a folder that a .pth file names
};

/// A folder without __init__.py is not a name of its own: several packages may share it.
[[nodiscard]] std::vector<ImportName> import_names(const InstalledPackageFiles& package);

}  // namespace axle::doctor

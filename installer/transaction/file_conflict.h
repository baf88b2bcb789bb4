#pragma once
// A file of a package whose path is already taken.

#include <string>

#include "foundation/report/error.h"

namespace axle::installer {

struct FileConflict {
  std::string path;     ///< absolute
  std::string package;  ///< "name version" that would install it; empty: several, as a folder
  /// "name version" whose file is or would be there; empty: no package owns it
  std::string owner;
  Error error;  ///< conflict: the error when the changes are applied
};

}  // namespace axle::installer

#pragma once
// A file that a package would put where there is another.

#include <string>

#include "foundation/report/error.h"

namespace axle::installer {

struct FileConflict {
  std::string path;     ///< absolute
  std::string package;  ///< "name version", which would install it; empty: several, as a folder
  /// "name version", whose file is there or would be; empty: a file or folder of nobody's.
  std::string owner;
  Error error;  ///< conflict: what applying the changes says of it
};

}  // namespace axle::installer

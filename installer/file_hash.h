#pragma once
// Hashes the content of a file.

#include <string>

#include "foundation/report/error.h"

namespace axle::installer {

/// sha256 in the format of RECORD, of the regular file `path`, relative to `folder_fd` (AT_FDCWD:
/// the working folder); a symbolic link as the last component is rejected. Errors: not_found,
/// malformed (not a regular file), io.
[[nodiscard]] Result<std::string> hash_file(int folder_fd, const std::string& path);

}  // namespace axle::installer

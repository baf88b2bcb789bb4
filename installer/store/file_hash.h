#pragma once
// The content of a file by its hash.

#include <string>

#include "foundation/report/error.h"

namespace axle::installer {

/// sha256 as RECORD spells it, of the regular file `path`, relative to `folder_fd` (AT_FDCWD: the
/// working folder); a symbolic link as the last component is refused. Errors: not_found, malformed
/// (no regular file), io.
[[nodiscard]] Result<std::string> hash_file(int folder_fd, const std::string& path);

}  // namespace axle::installer

#pragma once
// Checks that nobody but the user (and root) can change or replace a file. Files that decide which
// code runs must pass this check.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::session {

/// For the file or folder `path`; `what` names it in errors: "the file". Group write permission is
/// accepted if the user is the only member. Errors: io; unsupported, with the command that fixes
/// it.
[[nodiscard]] Result<void> check_owner(const std::string& path, std::string_view what);
/// For each folder above `path`, which is absolute; sticky folders are accepted, since others
/// cannot replace what is in them.
[[nodiscard]] Result<void> check_folders_above(const std::string& path);

/// The existing folder `name` with links resolved, into which nobody else can put anything, nor
/// into a subfolder; sticky folders are not accepted. Errors: io, unsupported.
[[nodiscard]] Result<std::string> check_own_folder(const std::string& name);
/// The same, created (0700) if missing. Errors: io (it cannot be
/// created or written), unsupported.
[[nodiscard]] Result<std::string> own_folder(const std::string& name);

using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
/// The file that `name` refers to, opened for reading; it and all folders above it are checked.
/// Errors: not_found, io, unsupported; malformed if it is not a regular file.
[[nodiscard]] Result<OpenFile> open_own_file(const std::string& name);

}  // namespace axle::session

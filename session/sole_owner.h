#pragma once
// Whether nobody but the user (and root) can change a file or put another one in its place: what
// decides which code runs here must be theirs.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::session {

/// Of the file or folder `path`; `what` names it in errors: "the file". A group may write where the
/// user is alone in it. Errors: io; unsupported, with the command that fixes it.
[[nodiscard]] Result<void> check_owner(const std::string& path, std::string_view what);
/// Of each folder above `path`, which is absolute; sticky ones keep what is in them.
[[nodiscard]] Result<void> check_folders_above(const std::string& path);

/// The folder `name` without links, made (0700) where it is missing, that nobody else can put
/// anything into, nor into a folder in it: not even a sticky one will do. Errors: io (it cannot be
/// made or written), unsupported.
[[nodiscard]] Result<std::string> own_folder(const std::string& name);

using OpenFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
/// The file that `name` leads to, for reading: it and all folders above it are checked. Errors:
/// not_found, io, unsupported; malformed for what is not a regular file.
[[nodiscard]] Result<OpenFile> open_own_file(const std::string& name);

}  // namespace axle::session

#pragma once
// Whether nobody but the user (and root) can change a file or put another one in its place: what
// decides which code runs here must be theirs.

#include <string>
#include <string_view>

#include "report/error.h"

struct stat;

namespace axle::cli {

/// Of a file or folder that was looked at; `what` names it in errors: "the file". A group may write
/// where the user is alone in it. Errors: unsupported, with the command that mends it.
[[nodiscard]] Result<void> check_owner(const struct stat& status, const std::string& path,
                                       std::string_view what);
/// The same of `path` itself. Errors: io as well.
[[nodiscard]] Result<void> check_owner(const std::string& path, std::string_view what);
/// Of each folder above `path`, which is absolute.
[[nodiscard]] Result<void> check_folders_above(const std::string& path);

}  // namespace axle::cli

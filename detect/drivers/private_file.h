#pragma once
// Small files that only one user can access.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace axle::detect {

/// The content, if `path` is a regular file, not a link, owned by the effective user, inaccessible
/// to others, at most `limit` bytes, and not modified after `now` (seconds since 1970): the age of
/// a file from the future is unknown. nullopt otherwise.
[[nodiscard]] std::optional<std::string> read_private_file(const std::string& path,
                                                           std::size_t limit, std::int64_t now);

/// Replaces `path` with `content` atomically, readable by the user only. Creates the folder if it
/// is missing. False on failure; nothing is left behind then.
bool write_private_file(const std::string& path, std::string_view content);

/// Removes the folder's files whose names begin with `prefix` and that were modified before `time`.
void remove_old_files(const std::string& folder, std::string_view prefix, std::int64_t time);

}  // namespace axle::detect

#pragma once
// Small files that belong to one user alone.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace axle::detect {

/// The content, if `path` is a regular file, no link, of the effective user, closed to everyone
/// else, at most `limit` bytes, and not changed later than `now` (seconds since 1970): a file from
/// the future was made under another clock, and its age is unknown. nullopt otherwise.
[[nodiscard]] std::optional<std::string> read_private_file(const std::string& path,
                                                           std::size_t limit, std::int64_t now);

/// Replaces `path` by `content` atomically or not at all, readable by the user alone. Makes
/// the folder where it is missing. False when that fails; nothing is left behind then.
bool write_private_file(const std::string& path, std::string_view content);

/// Removes the folder's files whose names begin with `prefix` and that were changed before `time`.
void remove_old_files(const std::string& folder, std::string_view prefix, std::int64_t time);

}  // namespace axle::detect

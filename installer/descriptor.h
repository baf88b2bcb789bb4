#pragma once
// Files as the installer opens them, and what the system said when a call failed.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <dirent.h>
#include <sys/stat.h>

#include "foundation/report/error.h"
#include "foundation/system/descriptor.h"

namespace axle::installer {

using system::Descriptor;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
/// A folder that is being listed.
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

/// "cannot <action> <path>: <what the system says>", with what to do about it. `code` is an errno.
[[nodiscard]] Error system_error(std::string_view action, std::string_view path, int code);

/// Whether an errno says that there is nothing. Every other answer leaves it unknown, and what is
/// unknown is never treated as absent.
[[nodiscard]] bool says_absent(int code);

enum class Links : std::uint8_t { themselves, followed };
/// What lies at `path`; nullopt when nothing does. Error: io (it cannot be told).
[[nodiscard]] Result<std::optional<struct stat>> look_at(const std::string& path,
                                                         Links links = Links::themselves);
/// Whether anything lies at `path`, a link counting itself.
[[nodiscard]] Result<bool> exists(const std::string& path);

/// Opens an existing folder; a symbolic link as the last component is refused.
[[nodiscard]] Result<Descriptor> open_folder(const std::string& path);

/// The whole of a regular file. Errors: not_found, malformed (longer than `limit` or no regular
/// file), io.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::uint64_t limit);

/// Writes all bytes, resuming after signals and short writes. `path` is for the message.
[[nodiscard]] Result<void> write_all(int fd, std::string_view bytes, std::string_view path);

/// The permissions that new files do not get.
[[nodiscard]] unsigned process_umask();

/// Creates `name` under the folder `folder_fd` (AT_FDCWD: `name` is a path); it must not exist yet.
/// Permissions 0666 or 0777 less the umask.
[[nodiscard]] Result<void> create_file(int folder_fd, const std::string& name,
                                       std::string_view content, bool executable);

}  // namespace axle::installer

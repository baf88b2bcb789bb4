#pragma once
// File access of the installer, with the system's error messages.

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

/// "cannot <action> <path>: <the system's message>", with what to do about it. `code` is an errno.
[[nodiscard]] Error system_error(std::string_view action, std::string_view path, int code);

/// Whether an errno means that the file does not exist. Every other error leaves that unknown,
/// which is never treated as absent.
[[nodiscard]] bool says_absent(int code);

enum class Links : std::uint8_t { themselves, followed };
/// The file at `path`; nullopt if there is none. Error: io (it cannot be determined).
[[nodiscard]] Result<std::optional<struct stat>> look_at(const std::string& path,
                                                         Links links = Links::themselves);
/// Since 1970.
[[nodiscard]] std::int64_t nanoseconds_of(const timespec& time);
/// Whether anything is at `path`; a link counts as such.
[[nodiscard]] Result<bool> exists(const std::string& path);

/// Opens an existing folder; a symbolic link as the last component is rejected.
[[nodiscard]] Result<Descriptor> open_folder(const std::string& path);

/// The complete content of a regular file. Errors: not_found, malformed (longer than `limit` or not
/// a regular file), io.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::uint64_t limit);

/// The same; nullopt: nothing is there. Errors: malformed, io.
[[nodiscard]] Result<std::optional<std::string>> read_if_there(const std::string& path,
                                                               std::uint64_t limit);

/// The lines of such a file before the first empty one: of METADATA the fields without the
/// description, which may be a hundred times as long. Errors: as above.
[[nodiscard]] Result<std::string> read_headers(const std::string& path, std::uint64_t limit);

/// Writes all bytes, resuming after signals and short writes. `path` is for the message.
[[nodiscard]] Result<void> write_all(int fd, std::string_view bytes, std::string_view path);

/// The process's umask.
[[nodiscard]] unsigned process_umask();

/// Creates `name` under the folder `folder_fd` (AT_FDCWD: `name` is a path); it must not exist yet.
/// Permissions 0666 or 0777 less the umask.
[[nodiscard]] Result<void> create_file(int folder_fd, const std::string& name,
                                       std::string_view content, bool executable);

/// Copies `from` under the folder `tree_fd` into the new file `to` under `folder_fd`, in the kernel
/// if possible (sharing blocks if the file system supports it). Permissions as of create_file.
[[nodiscard]] Result<void> copy_file(int tree_fd, const std::string& from, int folder_fd,
                                     const std::string& to, bool executable);

}  // namespace axle::installer

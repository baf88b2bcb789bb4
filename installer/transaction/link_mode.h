#pragma once
// How a file of the store comes into an environment (--link-mode).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::installer {

struct NewFile;

enum class LinkMode : std::uint8_t {
  best,      ///< a hard link where that is possible, else a copy
  hardlink,  ///< the same file: what changes one, changes the other
  reflink,   ///< a file of its own that shares the blocks until one of them changes
  copy,
  symlink,  ///< a symbolic link into the store
};

/// As uv has it: "hardlink", "clone" or "reflink", "copy", "symlink".
[[nodiscard]] std::optional<LinkMode> parse_link_mode(std::string_view text);

/// The folder of the store with the files of a wheel.
struct StoreTree {
  int fd;
  std::string_view path;
};

enum class Placed : std::uint8_t {
  shared,  ///< it has the attributes of the store's file
  own,
};

/// Whether place_file makes a hard link of `file`, which is of the store, if that is possible.
[[nodiscard]] bool links_to_store(const NewFile& file, LinkMode mode, unsigned umask);

/// Creates `path` under the folder `folder_fd` with the content of `file`, which is in `tree` if it
/// is of the store at all. Byte code, which an interpreter may write, is never a symbolic link.
/// Errors: io; unsupported, where the file system or the permissions do not allow what `mode` asks
/// for.
[[nodiscard]] Result<Placed> place_file(const NewFile& file, const StoreTree& tree, int folder_fd,
                                        const std::string& path, LinkMode mode, unsigned umask);

}  // namespace axle::installer

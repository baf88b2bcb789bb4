#pragma once
// How a file is written whole: beside its place, then renamed into it. Others see what was there
// before, or all of the new content, and a process that is killed leaves at most a draft.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/types.h>

#include "foundation/system/descriptor.h"

namespace axle::system {

enum class Flush : std::uint8_t {
  no,   ///< after a power failure the file may be torn: for what can be had again
  yes,  ///< the content is on the disk before the name is
};

struct WholeFile {
  Flush flush = Flush::yes;
  /// Whatever the umask is; unset: 0666 less the umask.
  std::optional<mode_t> mode = {};
  /// On the same file system; empty: the folder of the file. Drafts are "NAME.XXXXXX" there.
  std::string drafts = {};
  /// When the file says that it was changed, in seconds since 1970; unset: now.
  std::optional<std::int64_t> modified = {};
};

/// The folder must be there. After an error the place is as it was, and there is no draft.
[[nodiscard]] std::error_code write_whole_file(const std::string& path, std::string_view content,
                                               const WholeFile& how = {});

/// Removes from a folder of drafts (nothing else lies there) those that no process writes any
/// more: a draft is locked while it is written.
void remove_abandoned_drafts(const std::string& folder);

}  // namespace axle::system

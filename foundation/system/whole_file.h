#pragma once
// Writes a file atomically: next to its target, then renamed. Others see the old or the complete
// new content, and a process that is killed leaves at most a draft.

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
  no,   ///< after a power failure the file may be incomplete: for data that can be recreated
  yes,  ///< the content is on the disk before the name
};

struct WholeFile {
  Flush flush = Flush::yes;
  /// Independent of the umask; unset: 0666 less the umask.
  std::optional<mode_t> mode = {};
  /// On the same file system; empty: the folder of the file. Drafts are "NAME.XXXXXX" there.
  std::string drafts = {};
  /// The modification time, in seconds since 1970; unset: now.
  std::optional<std::int64_t> modified = {};
};

/// The folder must exist. After an error nothing has changed, and there is no draft.
[[nodiscard]] std::error_code write_whole_file(const std::string& path, std::string_view content,
                                               const WholeFile& how = {});

/// Removes abandoned drafts from a folder that only contains drafts: a draft is locked while it is
/// written.
void remove_abandoned_drafts(const std::string& folder);

}  // namespace axle::system

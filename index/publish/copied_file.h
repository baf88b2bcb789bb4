#pragma once
// New files of an index, and copies of files that somebody else may change.

#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::index {

/// Error: io, with what to do; `number` is an errno.
[[nodiscard]] std::unexpected<Error> system_failure(std::string_view what, const std::string& path,
                                                    int number);

/// Error: io, also if `path` is there.
[[nodiscard]] Result<void> write_new_file(const std::string& path, std::string_view content);

/// A separate file, whose blocks are shared if the file system supports it (reflink).
[[nodiscard]] Result<void> copy_to_new_file(const std::string& file, const std::string& path);

}  // namespace axle::index

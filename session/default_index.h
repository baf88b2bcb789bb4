#pragma once
// The index that pip would use without configuration: read from the interpreter's own pip, never
// hard-coded.

#include <memory>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/pages/source.h"

namespace axle::session {

/// The address itself, asked for at once.
[[nodiscard]] Result<std::string> default_index_url(const std::string& python,
                                                    const std::string& path);

/// Asks the pip of the target interpreter, else that of the `python3` on `path`, when the first
/// project is requested, so that commands without an index (a local wheel, installed packages) do
/// not wait for it. `project` fails with not_found, and a hint how to set an index, if neither has
/// a pip.
[[nodiscard]] std::unique_ptr<index::Source> make_default_index(std::string python,
                                                                std::string path,
                                                                index::Transport& transport,
                                                                Report& report);

}  // namespace axle::session

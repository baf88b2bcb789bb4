#pragma once
// The index that pip would use when nothing is configured: asked of the interpreter's own pip,
// never a constant of ours.

#include <memory>
#include <string>

#include "foundation/report/report.h"
#include "index/pages/source.h"

namespace axle::session {

/// Asks the target interpreter's pip, else that of the `python3` on `path`, at the first project
/// that is wanted: who needs no index (a local wheel, what is installed) does not wait for it.
/// `project` fails with not_found, and how to name an index, where neither has a pip.
[[nodiscard]] std::unique_ptr<index::Source> make_default_index(std::string python,
                                                                std::string path,
                                                                index::Transport& transport,
                                                                Report& report);

}  // namespace axle::session

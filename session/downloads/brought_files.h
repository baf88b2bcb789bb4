#pragma once
// Brings the files that machines need into a folder, and says whether it suffices for them.

#include <optional>
#include <string>
#include <vector>

#include "installer/downloads/file_folder.h"
#include "resolver/request/target.h"
#include "session/downloads/wanted_files.h"
#include "session/workspace.h"

namespace axle::session {

/// Several at once, the largest first; the first error ends the others, and what was complete by
/// then stays. One for each of `wanted`. Errors: as of FileFolder::bring.
[[nodiscard]] Result<std::vector<installer::SavedFile>> bring_files(
    installer::FileFolder& folder, const std::vector<WantedFile>& wanted,
    index::Transport& transport, Report& report);

/// Solves again, without indexes and families, with nothing but the files in `folder`. Nullopt: it
/// gives the files of `resolution`; else what differs, as a clause.
[[nodiscard]] std::optional<std::string> differs_from_folder(const Workspace& workspace,
                                                             const resolver::Target& target,
                                                             const plan::Resolution& resolution,
                                                             const std::string& folder);

}  // namespace axle::session

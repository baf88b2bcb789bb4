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

/// Where files are saved.
struct SavePlace {
  std::string folder;            ///< they are brought into it
  std::string index = {};        ///< the static index that takes them over, if there is one
  std::string bundle = {};       ///< the file that `index` is for, and goes into; empty: it stays
  std::string signing_key = {};  ///< of that

  [[nodiscard]] bool has_index() const { return !index.empty(); }
  /// What the user named.
  [[nodiscard]] const std::string& named() const {
    return !bundle.empty() ? bundle : has_index() ? index : folder;
  }
};

/// Several at once, the largest first; the first error ends the others, and what was complete by
/// then stays. What the index of `place` has is not brought. One for each of `wanted`. Errors: as
/// of FileFolder::bring.
[[nodiscard]] Result<std::vector<installer::SavedFile>> bring_files(
    installer::FileFolder& folder, const SavePlace& place, const std::vector<WantedFile>& wanted,
    index::Transport& transport, Report& report);

/// Solves again, without other indexes and families, with nothing but what is saved. Nullopt: it
/// gives the files of `resolution`; else what differs, as a clause.
[[nodiscard]] std::optional<std::string> differs_from_saved(const Workspace& workspace,
                                                            const resolver::Target& target,
                                                            const plan::Resolution& resolution,
                                                            const SavePlace& place);

}  // namespace axle::session

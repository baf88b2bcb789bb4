#pragma once
// Brings the files that machines need into a folder, and says whether it suffices for them.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/publish/index_place.h"
#include "installer/downloads/file_folder.h"
#include "resolver/request/target.h"
#include "session/downloads/wanted_files.h"
#include "session/workspace.h"

namespace axle::session {

/// Where files are saved.
struct SavePlace {
  std::string folder;  ///< they are brought into it
  /// The static index that takes them over, if there is one: an absolute path, "s3://…", or
  /// "https://…".
  std::string index = {};
  std::string bundle = {};       ///< the file that `index` is for, and goes into; empty: it stays
  std::string signing_key = {};  ///< of that
  std::string shown_index = {};  ///< `index` without the login that it has; empty: it has none

  [[nodiscard]] bool has_index() const { return !index.empty(); }
  /// What the user named.
  [[nodiscard]] const std::string& named() const {
    return !bundle.empty()        ? bundle
           : !shown_index.empty() ? shown_index
           : has_index()          ? index
                                  : folder;
  }
};

/// The index of a place, and how it is read.
struct OpenedIndex {
  std::unique_ptr<index::IndexPlace> place;  ///< nullptr: files stay in the folder
  std::string url;                           ///< of its simple API
  index::Transport* transport = nullptr;     ///< for `url`, or for the folder
};

/// Errors: of a storage as open_storage (session/storage/storage_access.h).
[[nodiscard]] Outcome<OpenedIndex> open_saved_index(const SavePlace& place,
                                                    const Workspace& workspace);

/// Several at once, the largest first; the first error ends the others, and what was complete by
/// then stays. What `published` has, unless it is nullptr, is not brought. One for each of
/// `wanted`. Errors: as of FileFolder::bring.
[[nodiscard]] Result<std::vector<installer::SavedFile>> bring_files(
    installer::FileFolder& folder, index::IndexPlace* published,
    const std::vector<WantedFile>& wanted, index::Transport& transport, Report& report);

/// Solves again, without other indexes and families, with nothing but what is saved, which is read
/// from `url` (of an index) or else the folder of `place`, by `transport`. Nullopt: it gives the
/// files of `resolution`; else what differs, as a clause.
[[nodiscard]] std::optional<std::string> differs_from_saved(
    const Workspace& workspace, const resolver::Target& target, const plan::Resolution& resolution,
    const SavePlace& place, const std::string& url, index::Transport& transport);

}  // namespace axle::session

#pragma once
// An entry of the store: a folder with a manifest and the tree of files that it lists.

#include <cstdint>
#include <optional>
#include <string>

#include "foundation/report/error.h"
#include "installer/store/manifest.h"

namespace axle::installer {

class WorkFolder;

struct StoreEntry {
  Manifest manifest;
  std::string tree;  ///< its folder of files
};

/// How an entry is compared with its manifest before it is used.
enum class EntryCheck : std::uint8_t {
  size_and_time,
  content,  ///< by hash too: if it may replace damaged files that share the entry's content
};

/// The entry `folder` if it exists unchanged, written by this user or root: another user's is made
/// again. `changed` receives the path of a file that somebody changed since it was unpacked; not of
/// one that a power failure may have damaged.
[[nodiscard]] std::optional<StoreEntry> find_entry(const std::string& folder, EntryCheck check,
                                                   std::string* changed = nullptr);

/// Gives `made`, whose tree is complete, its manifest, and moves it to `folder` in the place of a
/// damaged entry, which goes to `work`, or keeps an intact one there. Errors: io;
/// unsupported (the one there is of a later version of Axle).
[[nodiscard]] Result<StoreEntry> enter(const std::string& made, const std::string& folder,
                                       Manifest manifest, const WorkFolder& work, EntryCheck check);

}  // namespace axle::installer

#pragma once
// What is in the folders that a removal looks at; each is read once.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "foundation/report/error.h"

namespace axle::installer {

struct ListedEntry {
  std::string name;
  bool is_folder = false;
  // Of files, when they were listed.
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds
  std::uint64_t inode = 0;    ///< if it has other names somewhere, as links to the store have
  /// The packages with which it is removed, by number; empty: it stays. Of files only.
  std::vector<std::uint32_t> leaves_with;
};

struct ListedFolder {
  /// Whether `entries` is everything in it; not if it does not exist, or this user may not read it.
  bool complete = false;
  /// It belongs to this user, who may change what is in it.
  bool owned = false;
  std::vector<ListedEntry> entries;  ///< by name
  /// The place among them behind the file that was found last: most are asked for in order.
  std::size_t next = 0;

  /// nullptr: not among `entries`.
  [[nodiscard]] ListedEntry* find(std::string_view name);
  /// Whether `name` is certainly not in it.
  [[nodiscard]] bool lacks(std::string_view name) const;
};

class ListedFolders {
 public:
  /// Reads those of `paths`, each given once, that are not known yet, several at once, and calls
  /// `meanwhile` at the same time; what cannot be read is an error of `at` only.
  void foresee(
      const std::vector<std::string>& paths, const std::function<void()>& meanwhile = [] {});

  /// `path`: absolute and without links. The folder stays where it is in memory. Error: io.
  [[nodiscard]] Result<ListedFolder*> at(const std::string& path);

  /// The file `name` in `folder`, which is at `path`, also where the folder cannot be read, or
  /// knows the file under another spelling. nullptr: it does not exist, or is a folder. Error: io.
  [[nodiscard]] static Result<ListedEntry*> find_file(ListedFolder& folder, std::string_view name,
                                                      const std::string& path);

  /// Those that were asked for so far, with their paths; `at` may be called meanwhile.
  [[nodiscard]] std::vector<std::pair<const std::string, ListedFolder>*> known();

 private:
  std::unordered_map<std::string, ListedFolder> folders_;
};

}  // namespace axle::installer

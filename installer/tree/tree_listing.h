#pragma once
// The files of a tree of folders, for work on many of them by several threads.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/system/descriptor.h"

namespace axle::installer {

struct TreeFolder {
  std::string below;               ///< its path below the top: empty, or with a final slash
  std::vector<std::string> files;  ///< the names of what is in it and no folder
};

/// Opens the folder `below` the folder `top`, as TreeFolder has it, without following links.
/// Invalid, with errno: it cannot be opened.
[[nodiscard]] system::Descriptor open_below(int top, const std::string& below);

/// A folder with everything below it, as it was when it was read. No link is followed, also none
/// that another program puts in a folder's place.
class TreeListing {
 public:
  /// `skipped`: the name of folders that are left out; may be empty. Errors: io (a folder that
  /// cannot be read), not_found.
  [[nodiscard]] static Result<TreeListing> read(const std::string& top, std::string_view skipped);

  /// Parents come before what they contain.
  [[nodiscard]] const std::vector<TreeFolder>& folders() const { return folders_; }
  /// How many files there are.
  [[nodiscard]] std::size_t size() const { return first_.empty() ? 0 : first_.back(); }
  /// A file, its number, and the open folder that it is in.
  struct File {
    const TreeFolder& folder;
    const std::string& name;
    std::size_t number;
    int fd;
  };
  /// Calls `work` for every file, several at once. Error: io (a folder that cannot be opened any
  /// more), the first of `work`, after which no further calls begin.
  [[nodiscard]] Result<void> for_each_file(
      const std::function<Result<void>(const File& file)>& work) const;

 private:
  explicit TreeListing(std::string path, system::Descriptor top)
      : path_(std::move(path)), top_(std::move(top)) {}
  [[nodiscard]] int top() const { return top_.get(); }

  std::string path_;
  system::Descriptor top_;
  std::vector<TreeFolder> folders_;
  /// The number of the first file of each folder, and of all files.
  std::vector<std::size_t> first_;
};

}  // namespace axle::installer

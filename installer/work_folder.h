#pragma once
// A folder for work in progress, in the store or among temporary files.

#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "installer/file_access.h"

namespace axle::installer {

/// Holds a lock on the folder while it exists and removes it at the end.
class WorkFolder {
 public:
  /// In `place`. Also removes folders with that prefix that dead processes of this user left.
  [[nodiscard]] static Result<WorkFolder> create(const std::string& place,
                                                 std::string_view prefix = "work-");
  /// The one folder `name` in `place`: new, or with what a dead process of this user left in it.
  /// Nullopt: a living process has it or, on NFS, may have it, or it is not this user's alone.
  [[nodiscard]] static Result<std::optional<WorkFolder>> take_over(const std::string& place,
                                                                   const std::string& name);
  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::move(other.path_)), folder_(std::move(other.folder_)) {
    other.path_.clear();
  }
  WorkFolder& operator=(WorkFolder&&) = delete;
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Lets go of the folder without removing it.
  void leave() {
    path_.clear();
    folder_ = Descriptor();
  }

 private:
  WorkFolder(std::string path, Descriptor folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}
  std::string path_;
  Descriptor folder_;
};

}  // namespace axle::installer

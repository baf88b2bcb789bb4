#pragma once
// A folder of the store for work in progress.

#include <string>

#include "installer/descriptor.h"
#include "report/error.h"

namespace axle::installer {

/// Holds a lock on the folder while it lives and removes it at the end.
class WorkFolder {
 public:
  /// Also removes the folders that dead processes left.
  [[nodiscard]] static Result<WorkFolder> create(const std::string& store);
  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::move(other.path_)), folder_(std::move(other.folder_)) {
    other.path_.clear();
  }
  WorkFolder& operator=(WorkFolder&&) = delete;
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  WorkFolder(std::string path, Descriptor folder)
      : path_(std::move(path)), folder_(std::move(folder)) {}
  std::string path_;
  Descriptor folder_;
};

}  // namespace axle::installer

#pragma once
// A folder that appears atomically: written next to its target, then renamed.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/system/descriptor.h"

namespace axle::index {

class StagedFolder {
 public:
  /// `target` is absolute. Only one can exist for a target: io while another run has one. Leftovers
  /// of a killed run are removed, and a target that it had moved away is restored.
  [[nodiscard]] static Result<StagedFolder> create_beside(std::string target);

  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();  ///< removes it unless it was published

  /// `relative` must not leave the folder; parents are created.
  [[nodiscard]] Result<void> write(std::string_view relative, std::string_view content);
  /// A separate file, whose blocks are shared if the file system supports it (reflink).
  [[nodiscard]] Result<void> copy(const std::string& file, std::string_view relative);
  /// A hard link if the file system allows it, else a copy: for files that never change.
  [[nodiscard]] Result<void> link(const std::string& file, std::string_view relative);

  /// Flushes to disk and swaps with the target in one step; the old content is removed afterwards.
  [[nodiscard]] Result<void> put_in_place();

 private:
  StagedFolder(std::string target, std::string path, system::Descriptor lock)
      : target_(std::move(target)), path_(std::move(path)), lock_(std::move(lock)) {}
  [[nodiscard]] Result<void> make_parent(const std::string& path) const;
  [[nodiscard]] Result<void> swap();

  std::string target_;
  std::string path_;
  system::Descriptor lock_;  ///< held on `path_`: shows other runs that it is in use
};

}  // namespace axle::index

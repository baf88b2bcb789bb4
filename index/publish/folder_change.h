#pragma once
// A change of the index in a folder that costs what it changes, however large the index is. New
// files are written aside and flushed; then a journal says what goes where, and the change is
// decided; then each file gets its name: those that pages name, pages of projects, pages of the
// index, and at last goes what no page names any more. So no page names a file that is not there.
// A process that ends before the journal is there has changed nothing. After it, whoever changes
// the index next completes the change first.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "foundation/system/descriptor.h"
#include "index/publish/change_journal.h"
#include "index/publish/index_place.h"

namespace axle::index {

class FolderChange final : public IndexDraft {
 public:
  /// `folder`: absolute; made if it is not there. Holds its lock until it ends. Errors: io, those
  /// of lock_index_folder and complete_change.
  [[nodiscard]] static Result<std::unique_ptr<FolderChange>> begin(const std::string& folder);
  FolderChange(const FolderChange&) = delete;
  FolderChange& operator=(const FolderChange&) = delete;
  ~FolderChange() override;  ///< leaves nothing of a change that was not decided

  [[nodiscard]] Result<void> write(std::string_view path, std::string_view content) override;
  [[nodiscard]] Result<void> copy(const std::string& file, std::string_view path,
                                  std::string_view sha256) override;
  void leave_out(std::string_view path) override;
  [[nodiscard]] Result<void> put_in_place(Report& report) override;

 private:
  FolderChange(std::string folder, system::Descriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}
  /// The path of a new file aside, which will be `path`.
  [[nodiscard]] Result<std::string> stage(std::string_view path);
  [[nodiscard]] Result<void> flush() const;

  std::string folder_;
  system::Descriptor lock_;
  bool made_folder_ = false;
  bool staging_ = false;  ///< the folder of the change is there
  bool decided_ = false;
  std::vector<ChangeStep> puts_;
  std::vector<ChangeStep> drops_;
};

/// Of a change in `folder`, whose lock the caller holds, that a process left unfinished: completes
/// one that was decided, removes another. Errors: io; malformed (a journal that is not understood).
[[nodiscard]] Result<void> complete_change(const std::string& folder);

}  // namespace axle::index

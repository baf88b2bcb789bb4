#include <utility>

#include "index/publish/index_place.h"
#include "index/publish/staged_folder.h"

namespace axle::index {
namespace {

class FolderDraft final : public IndexDraft {
 public:
  explicit FolderDraft(StagedFolder staged) : staged_(std::move(staged)) {}

  Result<void> write(std::string_view path, std::string_view content) override {
    return staged_.write(path, content);
  }
  Result<void> copy(const std::string& file, std::string_view path, std::string_view) override {
    return staged_.copy(file, path);
  }
  Result<void> link(const std::string& file, std::string_view path) override {
    return staged_.link(file, path);
  }
  void leave_out(std::string_view) override {}
  bool keeps_published() const override { return false; }
  Result<void> put_in_place(Report&) override { return staged_.put_in_place(); }

 private:
  StagedFolder staged_;
};

class FolderPlace final : public IndexPlace {
 public:
  explicit FolderPlace(std::string folder) : folder_(std::move(folder)) {}

  const std::string& name() const override { return folder_; }
  std::string folder() const override { return folder_; }
  Result<PublishedIndex> read(const std::set<std::string>*) override {
    return read_published_index(folder_);
  }
  Result<ScannedWheel> read_wheel(const PublishedProject& project, const PublishedWheel& wheel,
                                  Report& report) override {
    return read_published_wheel(project.folder + '/' + wheel.filename, wheel.sha256, report);
  }
  // Whoever looks for a file in a folder reads it.
  Result<std::optional<StoredObject>> find(const std::string&, const std::string&) override {
    return std::nullopt;
  }
  Result<std::string> read_metadata(const std::string&, const std::string& filename) override {
    return fail(ErrorKind::not_found, filename + ": its METADATA is in the wheel itself");
  }
  Result<std::unique_ptr<IndexDraft>> begin() override {
    Result<StagedFolder> staged = StagedFolder::create_beside(folder_);
    if (!staged) return std::unexpected(std::move(staged.error()));
    return std::make_unique<FolderDraft>(std::move(*staged));
  }

 private:
  std::string folder_;
};

}  // namespace

std::unique_ptr<IndexPlace> make_folder_place(std::string folder) {
  return std::make_unique<FolderPlace>(std::move(folder));
}

}  // namespace axle::index

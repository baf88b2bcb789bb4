#pragma once
// What is to be written to a WebDAV server, and in which order.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "index/publish/index_place.h"
#include "index/storage/dav_client.h"
#include "index/storage/dav_lock.h"
#include "index/storage/object_store.h"

namespace axle::index {

/// Where files arrive, beside "simple"; the lock is there, too.
inline constexpr std::string_view arriving_folder_name = ".axle-change";

class DavDraft final : public IndexDraft {
 public:
  /// `client` and `read` must outlive it. `has_index`: there is one.
  DavDraft(DavClient& client, const ReadIndex& read, bool has_index)
      : client_(client), read_(read), has_index_(has_index) {}

  [[nodiscard]] Result<void> write(std::string_view path, std::string_view content) override;
  [[nodiscard]] Result<void> copy(const std::string& file, std::string_view path,
                                  std::string_view sha256) override;
  void leave_out(std::string_view path) override { left_out_.emplace_back(path); }
  /// Files arrive aside. The rest is done while the lock is held, if the pages still are what was
  /// read: files get their names, then come variants files, pages of projects, pages of the index;
  /// then what is left out goes. Error: conflict.
  [[nodiscard]] Result<void> put_in_place(Report& report) override;

 private:
  struct File {
    std::string path;
    ObjectBody body;
    std::string aside = {};  ///< where it arrived; empty: it is in its place
  };
  struct Text {
    std::string path;
    std::string content;
  };
  [[nodiscard]] Result<void> make_folders();
  [[nodiscard]] Result<void> send_aside(File& file);
  [[nodiscard]] Result<bool> is_in_place(const File& file);
  [[nodiscard]] Result<void> send_whole(const std::string& path, const ObjectBody& body,
                                        const std::string& etag);
  [[nodiscard]] Result<void> take_lock(Report& report);
  /// Those that change are what was read.
  [[nodiscard]] Result<void> check_pages();
  [[nodiscard]] Result<void> name_files();
  [[nodiscard]] Result<void> name_file(const File& file);
  [[nodiscard]] Result<void> put_texts();
  [[nodiscard]] Result<void> put_text(const Text& text);
  [[nodiscard]] Result<void> remove_left_out();
  void count(std::uint64_t bytes);

  DavClient& client_;
  const ReadIndex& read_;
  bool has_index_;
  std::vector<File> files_;
  std::map<int, std::vector<Text>> texts_;  ///< by their turn
  std::vector<std::string> left_out_;
  std::unique_ptr<DavLock> lock_;
  std::mutex mutex_;  ///< protects what follows while files are sent
  Report* report_ = nullptr;
  std::uint64_t sent_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace axle::index

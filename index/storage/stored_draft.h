#pragma once
// What is to be written to a storage, and in which order.

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "index/publish/index_place.h"
#include "index/storage/storage_client.h"

namespace axle::index {

class StoredDraft final : public IndexDraft {
 public:
  /// What the pages were when they were read: their ETags, empty for those that were not there.
  using ReadPages = std::map<std::string, std::string>;

  /// `storage` must outlive it, and so must `read`. `is_ours`: it has an index.
  StoredDraft(StorageClient& storage, const ReadPages& read, bool goes_on, bool is_ours)
      : storage_(storage), read_(read), goes_on_(goes_on), is_ours_(is_ours) {}

  [[nodiscard]] Result<void> write(std::string_view path, std::string_view content) override;
  [[nodiscard]] Result<void> copy(const std::string& file, std::string_view path,
                                  std::string_view sha256) override;
  void leave_out(std::string_view path) override { left_out_.emplace(path); }
  /// Files, then the pages of projects, then those of the index; then what is left out goes. Of a
  /// page the JSON form is written first, and only if it is still what was read; when all are
  /// written it must still be ours, so that of two publishers the last one writes the other forms
  /// of it. Error: conflict.
  [[nodiscard]] Result<void> put_in_place(Report& report) override;

 private:
  struct Object {
    std::string key;
    ObjectBody body;
  };
  [[nodiscard]] Result<void> send_all(const std::vector<Object>& objects);
  [[nodiscard]] Result<void> send(const Object& object);
  [[nodiscard]] Result<void> send_bytes(const Object& object);
  [[nodiscard]] Result<void> send_large(const Object& object);
  [[nodiscard]] Result<void> remove_left_out();
  [[nodiscard]] PutCondition condition_of(const std::string& key) const;
  /// The pages that were written are still there.
  [[nodiscard]] Result<void> check_pages();
  void note_etag(const std::string& key, const std::string& etag);
  [[nodiscard]] std::vector<const std::vector<Object>*> stages() const;
  void count(std::uint64_t bytes);

  StorageClient& storage_;
  const ReadPages& read_;
  bool goes_on_;
  bool is_ours_;
  std::vector<Object> files_;
  std::vector<Object> pages_;       ///< of projects, in JSON
  std::vector<Object> html_pages_;  ///< the same in HTML
  std::vector<Object> roots_;       ///< the same of the index
  std::vector<Object> html_roots_;
  std::set<std::string> left_out_;
  std::mutex mutex_;  ///< protects what follows while objects are sent
  Report* report_ = nullptr;
  std::uint64_t sent_ = 0;
  std::uint64_t total_ = 0;
  bool no_folder_keys_ = false;
  ReadPages written_;  ///< as `read_`
};

}  // namespace axle::index
